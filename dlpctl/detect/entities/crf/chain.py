"""Convert scores of labels to probabilities: forward-backward over a linear chain.

The loops are unrolled by label (o outside, b and i of a person, a and j of an address, c place, g
organization): this is the innermost loop, and loops over labels take three times as long.
"""

from __future__ import annotations

from math import exp

from dlpctl.detect.entities.crf.model import FORBIDDEN, LANE, SCALE

# Where exact sums are cut short, in stored units; the differences are far too small to change a
# score. An entity starts or continues only where its label is this near to "outside". A number in
# an address means little by itself, but much beside its neighbors.
_START, _START_OF_ADDRESS, _START_OTHER = 3 * SCALE, 8 * SCALE, SCALE
_STAY, _STAY_IN_ADDRESS = 5 * SCALE, 8 * SCALE
_MARGIN = 130  # and only where its total is so little below that of "outside"
_AHEAD = 8  # tokens that may make up for a low start
_PERSON, _ADDRESS, _PLACE, _GROUP = range(4)
_OUTSIDE = 0.85  # a token that is more likely than this outside of every entity is not reported
_TAIL = 100 * SCALE
_EXP = [exp(-difference / SCALE) for difference in range(_TAIL)] + [exp(-100)] * (
    (1 << LANE) - _TAIL
)

Run = list[int]
Score = tuple[int, ...]
Scores = list[Score]
Chances = dict[int, list[float]]


class Chain:
    """A chain of labels with the score of each step, relative to the best step into its label."""

    def __init__(self, transitions: list[list[int]], entry: list[int]) -> None:
        self._matrix = [
            [
                0.0 if value == FORBIDDEN else exp((value - best) / SCALE)
                for value, best in zip(row, entry, strict=True)
            ]
            for row in transitions
        ]
        steps = [
            [
                value - best - transitions[0][0] + entry[0]
                for value, best in zip(row, entry, strict=True)
            ]
            for row in transitions
        ]
        self._steps = [
            (
                first,
                inside,
                steps[inside][inside],
                steps[0][first] + steps[first][0],
                steps[0][first] + steps[first][inside] + steps[inside][0],
            )
            for first, inside in ((1, 2), (3, 4), (5, 5), (6, 6))
        ]

    def decode(self, indexes: Run, scores: Scores, chances: Chances) -> None:
        """Add the probabilities of some tokens of a text to `chances`; all other tokens are
        outside.

        They are summed over stretches in which something may be an entity.
        """
        run: Run = []
        part: Scores = []
        person = address = city = group = addressed = False
        last = -1
        for at, index in enumerate(indexes):
            if index != last + 1:
                person = address = city = group = False
            last = index
            score = scores[at]
            o, b, i, a, j, c, g = score
            person = (person and i > o - _STAY) or (
                b > o - _START and self._pays(_PERSON, indexes, scores, at)
            )
            address = (address and j > o - _STAY_IN_ADDRESS) or (
                a > o - _START_OF_ADDRESS and self._pays(_ADDRESS, indexes, scores, at)
            )
            city = (city and c > o - _STAY) or (
                c > o - _START_OTHER and self._pays(_PLACE, indexes, scores, at)
            )
            group = (group and g > o - _STAY) or (
                g > o - _START_OTHER and self._pays(_GROUP, indexes, scores, at)
            )
            if person or address or city or group:
                if run and index != run[-1] + 1:
                    self.marginals(run, part, addressed, chances)
                    run, part, addressed = [], [], False
                run.append(index)
                part.append(score)
                addressed = addressed or address
        if run:
            self.marginals(run, part, addressed, chances)

    def _pays(self, entity: int, indexes: Run, scores: Scores, at: int) -> bool:
        """Return whether an entity that starts at a token may score nearly as high as "outside"."""
        first, inside, onward, leave, leave_inside = self._steps[entity]
        score = scores[at]
        gain = score[first] - score[0]
        if gain + leave > -_MARGIN:
            return True
        gain += leave_inside - onward
        last = at + _AHEAD
        if last >= len(indexes):
            last = len(indexes) - 1
        expected = indexes[at]
        while at < last:
            at += 1
            expected += 1
            if indexes[at] != expected:
                return False
            score = scores[at]
            gain += score[inside] - score[0] + onward
            if gain > -_MARGIN:
                return True
        return False

    def marginals(self, run: Run, scores: Scores, addressed: bool, chances: Chances) -> None:
        """Add the probabilities in a stretch between two tokens that are surely outside."""
        best = list(map(max, scores))
        if addressed:
            self._of_all(run, scores, best, chances)
        else:
            self._without_addresses(run, scores, best, chances)

    def _of_all(self, run: Run, scores: Scores, best: list[int], chances: Chances) -> None:
        (
            (oo, ob, _, oa, _, oc, og),
            (bo, bb, bi, ba, _, bc, bg),
            (io, ib, ii, ia, _, ic, ig),
            (ao, ab, _, aa, aj, ac, ag),
            (jo, jb, _, ja, jj, jc, jg),
            (co, cb, _, ca, _, cc, cg),
            (go, gb, _, ga, _, gc, gg),
        ) = self._matrix
        weight = _EXP
        o, b, i, a, j, c, g = 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        ahead, weights = [], []
        for score, top in zip(scores, best, strict=True):
            wo, wb, wi, wa, wj, wc, wg = factors = [weight[top - value] for value in score]
            weights.append(factors)
            ni = wi * (b * bi + i * ii)
            nj = wj * (a * aj + j * jj)
            no = wo * (o * oo + b * bo + i * io + a * ao + j * jo + c * co + g * go)
            nb = wb * (o * ob + b * bb + i * ib + a * ab + j * jb + c * cb + g * gb)
            na = wa * (o * oa + b * ba + i * ia + a * aa + j * ja + c * ca + g * ga)
            nc = wc * (o * oc + b * bc + i * ic + a * ac + j * jc + c * cc + g * gc)
            ng = wg * (o * og + b * bg + i * ig + a * ag + j * jg + c * cg + g * gg)
            part = 1.0 / (no + nb + ni + na + nj + nc + ng)
            o, b, i, a, j, c, g = (
                no * part,
                nb * part,
                ni * part,
                na * part,
                nj * part,
                nc * part,
                ng * part,
            )
            ahead.append((o, b, i, a, j, c, g))
        o, b, i, a, j, c, g = oo, bo, io, ao, jo, co, go
        for at in range(len(run) - 1, -1, -1):
            fo, fb, fi, fa, fj, fc, fg = ahead[at]
            fo, fb, fi, fa, fj, fc, fg = fo * o, fb * b, fi * i, fa * a, fj * j, fc * c, fg * g
            part = 1.0 / (fo + fb + fi + fa + fj + fc + fg)
            if fo * part < _OUTSIDE:
                votes = (fo, fb, fi, fa, fj, fc, fg)
                chances[run[at]] = [vote * part for vote in votes]
            wo, wb, wi, wa, wj, wc, wg = weights[at]
            no, nb, ni = wo * o * part, wb * b * part, wi * i * part
            na, nj = wa * a * part, wj * j * part
            nc, ng = wc * c * part, wg * g * part
            o = no * oo + nb * ob + na * oa + nc * oc + ng * og
            b = no * bo + nb * bb + ni * bi + na * ba + nc * bc + ng * bg
            i = no * io + nb * ib + ni * ii + na * ia + nc * ic + ng * ig
            a = no * ao + nb * ab + na * aa + nj * aj + nc * ac + ng * ag
            j = no * jo + nb * jb + na * ja + nj * jj + nc * jc + ng * jg
            c = no * co + nb * cb + na * ca + nc * cc + ng * cg
            g = no * go + nb * gb + na * ga + nc * gc + ng * gg

    def _without_addresses(
        self, run: Run, scores: Scores, best: list[int], chances: Chances
    ) -> None:
        """As `_of_all` without two of the labels: most stretches contain no address."""
        (
            (oo, ob, _, _, _, oc, og),
            (bo, bb, bi, _, _, bc, bg),
            (io, ib, ii, _, _, ic, ig),
            _,
            _,
            (co, cb, _, _, _, cc, cg),
            (go, gb, _, _, _, gc, gg),
        ) = self._matrix
        weight = _EXP
        o, b, i, c, g = 1.0, 0.0, 0.0, 0.0, 0.0
        ahead, weights = [], []
        for (vo, vb, vi, _, _, vc, vg), top in zip(scores, best, strict=True):
            wo, wb, wi = weight[top - vo], weight[top - vb], weight[top - vi]
            wc, wg = weight[top - vc], weight[top - vg]
            weights.append((wo, wb, wi, wc, wg))
            ni = wi * (b * bi + i * ii)
            no = wo * (o * oo + b * bo + i * io + c * co + g * go)
            nb = wb * (o * ob + b * bb + i * ib + c * cb + g * gb)
            nc = wc * (o * oc + b * bc + i * ic + c * cc + g * gc)
            ng = wg * (o * og + b * bg + i * ig + c * cg + g * gg)
            part = 1.0 / (no + nb + ni + nc + ng)
            o, b, i, c, g = no * part, nb * part, ni * part, nc * part, ng * part
            ahead.append((o, b, i, c, g))
        o, b, i, c, g = oo, bo, io, co, go
        for at in range(len(run) - 1, -1, -1):
            fo, fb, fi, fc, fg = ahead[at]
            fo, fb, fi, fc, fg = fo * o, fb * b, fi * i, fc * c, fg * g
            part = 1.0 / (fo + fb + fi + fc + fg)
            if fo * part < _OUTSIDE:
                chances[run[at]] = [
                    fo * part,
                    fb * part,
                    fi * part,
                    0.0,
                    0.0,
                    fc * part,
                    fg * part,
                ]
            wo, wb, wi, wc, wg = weights[at]
            no, nb, ni, nc, ng = (
                wo * o * part,
                wb * b * part,
                wi * i * part,
                wc * c * part,
                wg * g * part,
            )
            o = no * oo + nb * ob + nc * oc + ng * og
            b = no * bo + nb * bb + ni * bi + nc * bc + ng * bg
            i = no * io + nb * ib + ni * ii + nc * ic + ng * ig
            c = no * co + nb * cb + nc * cc + ng * cg
            g = no * go + nb * gb + nc * gc + ng * gg
