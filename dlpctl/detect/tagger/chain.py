"""From the scores of labels, token by token, to their probabilities: forward-backward over a linear chain.

Written out for the labels (o outside, b and i of a person, a and j of an address, c place, g organization): this is the
innermost loop, and loops over labels take three times as long.
"""

from __future__ import annotations

from math import exp

from dlpctl.detect.tagger.model import FORBIDDEN, LANE, SCALE

_OUTSIDE = 0.85  # a token that is more likely than this outside of every entity is not reported
_ADDRESS = 9 * SCALE  # no address starts where that label is this far below the best one
_TAIL = 100 * SCALE
_EXP = [exp(-difference / SCALE) for difference in range(_TAIL)] + [exp(-100)] * ((1 << LANE) - _TAIL)

Run = list[int]
Scores = list[tuple[int, ...]]
Chances = dict[int, list[float]]


class Chain:
    """Holds what a step from one label to another is worth, by its best one."""

    def __init__(self, transitions: list[list[int]], entry: list[int]) -> None:
        self._matrix = [
            [
                0.0 if value == FORBIDDEN else exp((value - best) / SCALE)
                for value, best in zip(row, entry, strict=True)
            ]
            for row in transitions
        ]

    def marginals(self, run: Run, scores: Scores, chances: Chances) -> None:
        """The probabilities in a stretch between two tokens that are surely outside."""
        best = list(map(max, scores))
        limit = _ADDRESS
        for score, top in zip(scores, best, strict=True):
            if top - score[3] < limit:
                self._of_all(run, scores, best, chances)
                return
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
            wo, wb, wi, wa, wj, wc, wg = here = [weight[top - value] for value in score]
            weights.append(here)
            ni = wi * (b * bi + i * ii)
            nj = wj * (a * aj + j * jj)
            no = wo * (o * oo + b * bo + i * io + a * ao + j * jo + c * co + g * go)
            nb = wb * (o * ob + b * bb + i * ib + a * ab + j * jb + c * cb + g * gb)
            na = wa * (o * oa + b * ba + i * ia + a * aa + j * ja + c * ca + g * ga)
            nc = wc * (o * oc + b * bc + i * ic + a * ac + j * jc + c * cc + g * gc)
            ng = wg * (o * og + b * bg + i * ig + a * ag + j * jg + c * cg + g * gg)
            part = 1.0 / (no + nb + ni + na + nj + nc + ng)
            o, b, i, a, j, c, g = no * part, nb * part, ni * part, na * part, nj * part, nc * part, ng * part
            ahead.append((o, b, i, a, j, c, g))
        o, b, i, a, j, c, g = oo, bo, io, ao, jo, co, go
        for place in range(len(run) - 1, -1, -1):
            fo, fb, fi, fa, fj, fc, fg = ahead[place]
            fo, fb, fi, fa, fj, fc, fg = fo * o, fb * b, fi * i, fa * a, fj * j, fc * c, fg * g
            part = 1.0 / (fo + fb + fi + fa + fj + fc + fg)
            if fo * part < _OUTSIDE:
                votes = (fo, fb, fi, fa, fj, fc, fg)
                chances[run[place]] = [vote * part for vote in votes]
            wo, wb, wi, wa, wj, wc, wg = weights[place]
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

    def _without_addresses(self, run: Run, scores: Scores, best: list[int], chances: Chances) -> None:
        """The same with nothing to win from two of the labels: most stretches hold no address."""
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
        for place in range(len(run) - 1, -1, -1):
            fo, fb, fi, fc, fg = ahead[place]
            fo, fb, fi, fc, fg = fo * o, fb * b, fi * i, fc * c, fg * g
            part = 1.0 / (fo + fb + fi + fc + fg)
            if fo * part < _OUTSIDE:
                chances[run[place]] = [fo * part, fb * part, fi * part, 0.0, 0.0, fc * part, fg * part]
            wo, wb, wi, wc, wg = weights[place]
            no, nb, ni, nc, ng = wo * o * part, wb * b * part, wi * i * part, wc * c * part, wg * g * part
            o = no * oo + nb * ob + nc * oc + ng * og
            b = no * bo + nb * bb + ni * bi + nc * bc + ng * bg
            i = no * io + nb * ib + ni * ii + nc * ic + ng * ig
            c = no * co + nb * cb + nc * cc + ng * cg
            g = no * go + nb * gb + nc * gc + ng * gg
