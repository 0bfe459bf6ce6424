"""Values that no page draws: in metadata, outlines, forms, attachments, earlier revisions and other
stored objects.
"""

from __future__ import annotations

import base64
import io

import pytest

from dlpctl.errors import FormatError
from dlpctl.formats.interface import Edit, Format, Limits
from dlpctl.formats.pdf import FORMAT

SSN = "536-90-4399"
EMAIL = "jane.roe@acme-corp.example"
XMP = (
    '<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" author="jane.roe&#64;acme-corp.example">'
    '<dc:title>For 536&#45;90-4399 &amp; co</dc:title></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>'
)


def test_it_is_a_format():
    assert isinstance(FORMAT, Format)
    assert FORMAT.sniff(b"\n%PDF-1.7\n", "x")
    assert not FORMAT.sniff(b"PK\x03\x04", "x.pdf")


def test_metadata_and_xmp(handmade, check):
    from pikepdf import Dictionary, Name

    made = handmade()
    made.pdf.trailer.Info = made.pdf.make_indirect(
        Dictionary(Title=f"Letter to {EMAIL}", Subject=f"Número {SSN} 中")
    )
    made.pdf.Root.Metadata = made.pdf.make_stream(
        XMP.encode(), Type=Name.Metadata, Subtype=Name.XML
    )
    result = check(made.save())
    assert not result.leaks(SSN, EMAIL)
    import pikepdf

    with pikepdf.open(io.BytesIO(result.masked)) as pdf:
        kept = pdf.Root.Metadata.read_bytes().decode()
        assert str(pdf.trailer.Info.Title) == "Letter to [EMAIL]"
    assert "<dc:title>For [SSN] &amp; co</dc:title>" in kept
    assert kept.startswith("<?xpacket begin")


def test_everything_else_that_holds_strings(handmade, check):
    from pikepdf import Array, Dictionary, Name, NameTree, OutlineItem, String

    made = handmade()
    pdf = made.pdf
    with pdf.open_outline() as outline:
        outline.root.append(OutlineItem(f"Chapter on {SSN}", 0))
    tree = NameTree.new(pdf)
    tree["aaa"] = Array([pdf.pages[0].obj, Name.Fit])
    tree[f"dest {EMAIL}"] = Array([pdf.pages[0].obj, Name.Fit])
    tree["zzz"] = Array([pdf.pages[0].obj, Name.Fit])
    pdf.Root.Names = Dictionary(Dests=tree.obj)
    pdf.Root.Dests = Dictionary({f"/{EMAIL}": Array([pdf.pages[0].obj, Name.Fit])})
    pdf.Root.OpenAction = Dictionary(S=Name.JavaScript, JS=f"app.alert('{SSN}')")
    pdf.Root.AA = Dictionary(
        WC=Dictionary(S=Name.JavaScript, JS=pdf.make_stream(f"mail('{EMAIL}')".encode()))
    )
    pdf.Root.OCProperties = Dictionary(
        OCGs=Array([pdf.make_indirect(Dictionary(Type=Name.OCG, Name=f"Layer {SSN}"))]),
        D=Dictionary(),
    )
    pdf.Root.Lang = String(f"en-{EMAIL}")
    made.page.Lang = String("en-US")
    pdf.Root.StructTreeRoot = Dictionary(
        K=Dictionary(S=Name.P, ID=String(EMAIL)), IDTree=Dictionary(ID=String("kept id"))
    )
    made.page.Resources.Font.F9 = Dictionary(
        FontDescriptor=Dictionary(CharSet=String(f"/a/{EMAIL}")),
        CIDSystemInfo=Dictionary(Registry=String(EMAIL), Ordering=String("Identity")),
    )
    pdf.Root.PieceInfo = Dictionary(App=Dictionary(Private=String(EMAIL)))
    link = Dictionary(
        Type=Name.Annot,
        Subtype=Name.Link,
        Rect=Array([0, 0, 9, 9]),
        A=Dictionary(S=Name.URI, URI=f"mailto:{EMAIL}"),
    )
    note = Dictionary(
        Type=Name.Annot,
        Subtype=Name.FreeText,
        Rect=Array([0, 0, 9, 9]),
        Contents=f"Call {SSN}",
        RC=f"<body><p>Call 536-<b>90</b>-4399</p><p>{SSN}</p></body>",
        AP=Dictionary(N=made.form(f"BT /F1 9 Tf (Call {SSN} now) Tj ET")),
    )
    made.page.Annots = Array([pdf.make_indirect(link), pdf.make_indirect(note)])
    made.page.AA = Dictionary(O=Dictionary(S=Name.Launch, F=f"/home/{EMAIL}/letter"))
    made.page.Thumb = pdf.make_stream(
        b"\0" * 300, Width=10, Height=10, ColorSpace=Name.DeviceRGB, BitsPerComponent=8
    )
    data = made.save()
    result = check(data)
    places = {result.document.segments[edit.segment].location for edit in result.edits}
    assert {"outline", "layers", "page 1, annotation"} <= places
    assert not [leak for leak in result.leaks(SSN, EMAIL) if leak[0] != "nobody"]
    import pikepdf

    with pikepdf.open(io.BytesIO(result.masked)) as pdf:
        assert "/PieceInfo" not in pdf.Root
        assert pdf.pages[0].Lang == "en-US"
        assert "/Thumb" not in pdf.pages[0].obj
        names = [str(name) for name in pdf.Root.Names.Dests.Names][::2]
        assert names == ["aaa", "dest [EMAIL]", "zzz"]
        appearance = pdf.pages[0].obj.Annots[1].AP.N.read_bytes()
        assert b"Artifact BMC" in appearance


def test_words_of_a_mark_in_the_resources(handmade, check):
    from pikepdf import Dictionary

    made = handmade()
    made.content("/Span /Words BDC BT /F1 9 Tf 50 720 Td (x) Tj ET EMC")
    made.page.Resources.Properties = Dictionary(Words=Dictionary(ActualText=f"Call {SSN}"))
    result = check(made.save())
    assert not result.leaks(SSN)


def test_form_fields_with_their_appearances_and_xfa(handmade, check):
    from pikepdf import Array, Dictionary, Name, String

    made = handmade()
    field = made.pdf.make_indirect(
        Dictionary(
            Type=Name.Annot,
            Subtype=Name.Widget,
            FT=Name.Tx,
            T="ssn",
            TU="Social security number",
            V=SSN,
            DV=SSN,
            Rect=Array([72, 600, 300, 620]),
            AP=Dictionary(N=made.form(f"/Tx BMC BT /F1 12 Tf 2 5 Td ({SSN}) Tj ET EMC")),
        )
    )
    made.page.Annots = Array([field])
    packet = f"<xfa:datasets xmlns:xfa='http://www.xfa.org/schema/xfa-data/1.0/'><ssn>{SSN}</ssn><mail>jane.roe&#x40;acme-corp.example</mail></xfa:datasets>"
    template = f'<template><font typeface="Noto Sans"/><a href="mailto:{EMAIL}"/></template>'
    packets = [
        made.pdf.make_stream(text.encode(), Type=Name.EmbeddedFile) for text in (packet, template)
    ]
    made.pdf.Root.AcroForm = Dictionary(
        Fields=Array([field]),
        DR=Dictionary(Font=made.page.Resources.Font),
        XFA=Array([String("datasets"), packets[0], String("template"), packets[1]]),
    )
    result = check(made.save())
    assert not result.leaks(SSN, EMAIL)
    contexts = {segment.context for segment in result.document.segments if segment.text == SSN}
    assert "ssn (Social security number)" in contexts
    assert any(f"ssn: {SSN}" in segment.text for segment in result.document.segments)
    assert not any("Noto Sans" in segment.text for segment in result.document.segments)
    import pikepdf

    with pikepdf.open(io.BytesIO(result.masked)) as pdf:
        assert str(pdf.Root.AcroForm.Fields[0].V) == "[SSN]"
        assert pdf.Root.AcroForm.XFA[1].read_bytes() == (
            b"<xfa:datasets xmlns:xfa='http://www.xfa.org/schema/xfa-data/1.0/'><ssn>[SSN]</ssn><mail>[EMAIL]</mail></xfa:datasets>"
        )


def test_binary_data_that_pictures_share_is_no_text(handmade):
    from pikepdf import Dictionary, Name

    made = handmade()
    shapes = made.pdf.make_stream(bytes(range(256)) + b"\0shapes of letters\0")
    made.page.Resources.XObject = Dictionary(
        Im=made.pdf.make_stream(
            b"\0",
            Type=Name.XObject,
            Subtype=Name.Image,
            Width=1,
            Height=1,
            BitsPerComponent=1,
            ColorSpace=Name.DeviceGray,
            Filter=Name.JBIG2Decode,
            DecodeParms=Dictionary(JBIG2Globals=shapes),
        )
    )
    document = FORMAT.extract(made.save(), Limits())
    (found,) = (each.text for each in document.segments if "shapes" in each.text)
    assert found.isascii()


def test_values_in_a_color_profile_and_a_character_map_are_covered(handmade, check):
    from pikepdf import Array, Dictionary, Name

    made = handmade()
    codes = b"1 beginbfchar <01> <00340031003100310031> endbfchar % of "
    made.page.Resources.Font.F9 = Dictionary(
        Type=Name.Font,
        Subtype=Name.Type1,
        BaseFont=Name.Helvetica,
        ToUnicode=made.pdf.make_stream(codes + EMAIL.encode()),
    )
    profile = made.pdf.make_stream(
        b"\0acsp\0Copyright a Maker\0" + f"by {EMAIL}\0end".encode(), N=3
    )
    made.page.Resources.ColorSpace = Dictionary(CS=Array([Name.ICCBased, profile]))
    result = check(made.save())
    assert not result.leaks(EMAIL)
    import pikepdf

    with pikepdf.open(io.BytesIO(result.masked)) as pdf:
        resources = pdf.pages[0].Resources
        kept = resources.ColorSpace.CS[1].read_bytes()
        assert resources.Font.F9.ToUnicode.read_bytes() == codes + b"*" * len(EMAIL)
    assert kept == profile.read_bytes().replace(EMAIL.encode(), b"*" * len(EMAIL))
    assert not any("Maker" in segment.text for segment in result.document.segments)


def test_attachments_are_children_that_can_be_replaced_or_dropped(handmade):
    import pikepdf

    made = handmade()
    made.pdf.attachments["list.csv"] = pikepdf.AttachedFileSpec(
        made.pdf, f"ssn\n{SSN}\n".encode(), filename="list.csv"
    )
    made.pdf.attachments["more.txt"] = pikepdf.AttachedFileSpec(
        made.pdf, EMAIL.encode(), filename="more.txt"
    )
    data = made.save()
    document = FORMAT.extract(data, Limits())
    children = {child.name: child for child in document.children}
    assert children["list.csv"].data == f"ssn\n{SSN}\n".encode()
    masked = FORMAT.mask(
        data,
        document,
        [],
        {children["list.csv"].key: b"ssn\n***\n", children["more.txt"].key: None},
    )
    after = {child.name: child.data for child in FORMAT.extract(masked, Limits()).children}
    assert after["list.csv"] == b"ssn\n***\n"
    assert not after.get("more.txt")
    assert not any(EMAIL in text or SSN in text for text in FORMAT.read_again(masked, Limits()))


def test_an_earlier_revision_is_read_and_dropped(drawn, check, updated):
    def page(text):
        def draw(canvas):
            canvas.drawString(72, 700, text)

        return draw

    def change(writer):
        from pypdf.generic import DecodedStreamObject, NameObject

        stream = DecodedStreamObject()
        stream.set_data(b"BT /F1 12 Tf 72 700 Td (Nothing to see) Tj ET")
        writer.pages[0][NameObject("/Contents")] = writer._add_object(stream)

    data = updated(drawn(page(f"Old number {SSN}")), change)
    document = FORMAT.extract(data, Limits())
    assert SSN not in document.segments[0].text
    assert any(
        SSN in segment.text and "earlier revision" in segment.location
        for segment in document.segments
    )
    assert not check(data).leaks(SSN)


def test_objects_that_nothing_refers_to(drawn, check):
    data = drawn(lambda canvas: canvas.drawString(72, 700, "Nothing"))
    import pikepdf

    with pikepdf.open(io.BytesIO(data)) as pdf:
        orphan = pdf.make_stream(f"BT /F1 12 Tf ({SSN}) Tj ET".encode())
        pdf.trailer.Keep = pikepdf.Array([orphan, pikepdf.Dictionary(Note=EMAIL)])
        buffer = io.BytesIO()
        pdf.save(
            buffer, object_stream_mode=pikepdf.ObjectStreamMode.disable, compress_streams=False
        )
    orphaned = buffer.getvalue().replace(b"/Keep", b"/K\x65ep")
    assert not check(orphaned).leaks(SSN, EMAIL)


def test_texts_between_objects_and_around_them(drawn, check):
    data = drawn(lambda canvas: canvas.drawString(72, 700, "Nothing"))
    noted = data.replace(b"\nendobj", f"\nendobj % for {SSN}".encode(), 1) + EMAIL.encode()
    result = check(noted)
    assert {SSN, EMAIL} <= result.values
    assert not result.leaks(SSN, EMAIL)


def test_names_are_sorted_after_all_of_them_are_changed(handmade, check, plain):
    from pikepdf import Array, Dictionary, Name

    made = handmade()
    numbers = [f"{536 + at}-90-4399" for at in range(5)]
    names = [
        each
        for at, number in enumerate(numbers)
        for each in (f"{at} of {number}", Array([made.page, Name.Fit]))
    ]
    made.pdf.Root.Names = Dictionary(Dests=Dictionary(Names=Array(names)))
    result = check(made.save())
    assert result.values == set(numbers)
    assert not result.leaks(*numbers)
    assert plain(result.masked).count(b" of [SSN])") == len(numbers)


def test_signatures_are_removed_and_their_loss_is_reported(handmade, check):
    from pikepdf import Array, Dictionary, Name, String

    made = handmade()
    made.content(f"BT /F1 12 Tf 72 700 Td (Number {SSN}) Tj ET")
    certificate = b"0\x82\x01\x00" + EMAIL.encode() + bytes(400)
    signature = made.pdf.make_indirect(
        Dictionary(
            Type=Name.Sig,
            Filter=Name("/Adobe.PPKLite"),
            ByteRange=Array([0, 1, 2, 3]),
            Contents=String(certificate),
            Name=EMAIL,
        )
    )
    field = made.pdf.make_indirect(
        Dictionary(
            Type=Name.Annot,
            Subtype=Name.Widget,
            FT=Name.Sig,
            T="sig",
            V=signature,
            Rect=Array([0, 0, 0, 0]),
        )
    )
    made.page.Annots = Array([field])
    made.pdf.Root.AcroForm = Dictionary(Fields=Array([field]), SigFlags=3)
    made.pdf.Root.Perms = Dictionary(DocMDP=signature)
    result = check(made.save())
    assert any("signature" in note for note in result.document.remarks)
    assert EMAIL in result.values
    assert not result.leaks(SSN, EMAIL)
    assert b"/ByteRange" not in result.masked


def test_an_encrypted_file_asks_for_its_password(handmade, check):
    import pikepdf

    made = handmade()
    made.content(f"BT /F1 12 Tf 72 700 Td (Number {SSN}) Tj ET")
    data = made.save(encryption=pikepdf.Encryption(owner="owner", user="user"))
    for password, hint in ((None, "--password"), ("wrong", "wrong")):
        with pytest.raises(FormatError, match=hint) as caught:
            FORMAT.extract(data, Limits(), password)
        assert "\n" not in str(caught.value)
    result = check(data, "user")
    assert not result.leaks(SSN)
    assert "user" not in repr(result.document)
    open_to_all = made.save(encryption=pikepdf.Encryption(owner="owner", user=""))
    assert not check(open_to_all).leaks(SSN)


def test_the_file_identifier_changes(drawn, check):
    data = drawn(lambda canvas: canvas.drawString(72, 700, SSN))
    import pikepdf

    with pikepdf.open(io.BytesIO(data)) as pdf:
        before = {bytes(part) for part in pdf.trailer.ID}
    with pikepdf.open(io.BytesIO(check(data).masked)) as pdf:
        assert not before & {bytes(part) for part in pdf.trailer.ID}


@pytest.mark.parametrize("is_armored", [False, True])
def test_notes_in_a_jpeg(is_armored, handmade, check):
    from pikepdf import Array, Dictionary, Name
    from PIL import Image

    made = handmade()
    picture = Image.new("RGB", (64, 64), "red")
    exif = picture.getexif()
    exif[0x013B] = EMAIL
    exif[0x8825] = {1: "N", 2: (48.0, 51.0, 29.6), 3: "W", 4: (2.0, 17.0, 40.2)}
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", exif=exif, comment=f"for {SSN}")
    jpeg = buffer.getvalue()
    made.page.Resources.XObject = Dictionary(
        Im=made.pdf.make_stream(
            base64.a85encode(jpeg) + b"~>" if is_armored else jpeg,
            Type=Name.XObject,
            Subtype=Name.Image,
            Width=64,
            Height=64,
            ColorSpace=Name.DeviceRGB,
            BitsPerComponent=8,
            Filter=Array([Name.ASCII85Decode, Name.DCTDecode]) if is_armored else Name.DCTDecode,
        )
    )
    made.content("q 64 0 0 64 100 100 cm /Im Do Q")
    data = made.save()
    result = check(data)
    assert {SSN, EMAIL} <= result.values
    assert any("GPS: 48.858222, -2.294500" in each.text for each in result.document.segments)
    assert not result.leaks(SSN, EMAIL)
    assert result.document.uninspected[0].location == "page 1"


def test_tiny_pictures_need_no_ocr_and_outlined_letters_do(handmade):
    from pikepdf import Dictionary, Name

    made = handmade()
    made.page.Resources.XObject = Dictionary(
        Im=made.pdf.make_stream(
            b"\0" * 3,
            Type=Name.XObject,
            Subtype=Name.Image,
            Width=1,
            Height=1,
            ColorSpace=Name.DeviceRGB,
            BitsPerComponent=8,
        )
    )
    made.content("q 64 0 0 64 100 100 cm /Im Do Q")
    assert not FORMAT.extract(made.save(), Limits()).uninspected
    made.content("0 0 m " + "1 2 3 4 5 6 c " * 80 + "f")
    assert "shapes" in FORMAT.extract(made.save(), Limits()).uninspected[0].reason


def test_hidden_pages_do_not_survive(handmade, check):
    from pikepdf import Array, Dictionary, Name

    made = handmade()
    lost = made.pdf.make_indirect(
        Dictionary(
            Type=Name.Page,
            MediaBox=Array([0, 0, 99, 99]),
            Resources=made.page.Resources,
            Contents=made.pdf.make_stream(f"BT /F1 9 Tf ({SSN}) Tj ET".encode()),
        )
    )
    made.pdf.Root.OpenAction = Array([lost, Name.Fit])
    result = check(made.save())
    assert SSN in result.values
    assert not result.leaks(SSN)


def test_stale_edits_are_refused(drawn):
    data = drawn(lambda canvas: canvas.drawString(72, 700, SSN))
    other = drawn(lambda canvas: canvas.drawString(72, 700, "something else"))
    document = FORMAT.extract(data, Limits())
    with pytest.raises(FormatError):
        FORMAT.mask(other, document, [Edit(0, 0, 11, "")], {})


# ---- files known to leak: the second reader must show what is still there


def _covered(made):
    made.content(f"BT /F1 12 Tf 72 700 Td ({SSN}) Tj ET 0 g 70 690 200 30 re f")


def _in_kerned_pieces(made):
    made.content("BT /F1 12 Tf 72 700 Td [(536-9) 20 (0-43) -10 (99)] TJ ET")


def _in_metadata(made):
    made.pdf.trailer.Info = made.pdf.make_indirect(dict_of(Title=SSN))


def _in_wide_string(made):
    from pikepdf import String

    made.page.Note = String(b"\xfe\xff" + SSN.encode("utf-16-be"))


def _in_unused_form(made):
    made.page.Resources.XObject = dict_of(Old=made.form(f"BT /F1 9 Tf ({SSN}) Tj ET"))


def _in_hex(made):
    made.page.Resources.XObject = dict_of(
        Old=made.form(f"BT /F1 9 Tf <{SSN.encode().hex()}> Tj ET")
    )


def _in_attachment(made):
    import pikepdf

    made.pdf.attachments["a.txt"] = pikepdf.AttachedFileSpec(
        made.pdf, SSN.encode(), filename="a.txt"
    )


def _in_javascript(made):
    made.pdf.Root.Code = made.pdf.make_stream(f"x='{SSN}'".encode())


def dict_of(**entries):
    from pikepdf import Dictionary

    return Dictionary(**entries)


@pytest.mark.parametrize(
    "leave",
    [
        _covered,
        _in_kerned_pieces,
        _in_metadata,
        _in_wide_string,
        _in_unused_form,
        _in_hex,
        _in_attachment,
        _in_javascript,
    ],
)
def test_the_second_reader_sees_what_a_bad_mask_leaves(handmade, leave):
    made = handmade()
    leave(made)
    texts = FORMAT.read_again(made.save(), Limits())
    assert any(SSN.replace("-", "") in "".join(filter(str.isalnum, text)) for text in texts)


def test_the_second_reader_sees_an_earlier_revision(drawn, updated):
    data = drawn(lambda canvas: canvas.drawString(72, 700, f"Old number {SSN}"))
    assert any(
        SSN in text for text in FORMAT.read_again(updated(data, lambda writer: None), Limits())
    )


def test_a_file_that_ends_within_a_stream_is_repaired(drawn, check):
    data = drawn(lambda canvas: canvas.drawString(72, 700, f"Her number {SSN}"))
    result = check(data[: data.rindex(b"endstream")])
    assert result.values == {SSN}
    assert not result.leaks()


def test_the_rest_of_a_truncated_stream_is_read(drawn):
    lines = [f"Line {number} of many, all of which say the same" for number in range(99)]

    def draw(canvas):
        for number, line in enumerate([f"Her number {SSN}", *lines]):
            canvas.drawString(72, 800 - 7 * number, line)

    data = drawn(draw)
    document = FORMAT.extract(data[: data.rindex(b"endstream") - 40], Limits())
    assert any(SSN in segment.text for segment in document.segments)
