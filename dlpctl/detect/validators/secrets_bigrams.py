"""How names and words follow letter upon letter: the table that tells a random value from one that
somebody wrote.

Trained once on the 67,000 distinct identifiers and words of Python's standard library. Row and
column are the kinds of two neighbours: a to z, A to Z, a digit, a joint (`_`, `-`, `.`, a blank),
anything else. The letter in a cell is the logarithm of how much likelier the pair is in a written
name than in a uniform draw from the base64 alphabet: `j` as likely, `p` sixteen times, `a` a 64th.
"""

from __future__ import annotations

KINDS = 55
DIGIT, JOINT, OTHER = 52, 53, 54

ROWS = (
    "dkmmehkckcinmnalbomojihhicaaaaaaaaaaaaabaaaaaaaaaaaacjh",
    "nikinggemmdoihmkallincfclfaaaacdaaaaaaaaacaaaaaacaaafmh",
    "neignfenkanmhgpgflinlgdaiadacaaaaadaabaabbaaaaaaaaaadlh",
    "mhglphgdneclegmfckkikeddhadbhefdaeeaaddeceaeedaadaaaeoh",
    "lglmijidfafnkngjhnnmgiilhcbbdcfdadcaadcdadaceeabbaaabnh",
    "lehillfboaakfgnhbljjladahaaaaaabaaaaaaaaaaaaaaaaaaaadph",
    "kfhfpejkmaakiljfalmjkfeacfaaadfbbdfaadddcfafdebaaaaacoh",
    "oefhpecdnagiihndalilkbbahbaabcddadaaacbbaaaadaaaaaaaanh",
    "kkmkkjlafafnlpnkcknncjakakaaaaaaaaaaaaaaaaaaaaaaaaaaahh",
    "laifpeaejahgdeoiagkfnadaeaaaaaaaaaaaaaaaaaaaaaacaaaadoh",
    "lghipijenadkejhheimhickafadaebedcadabedcccadgbaebaaaaoh",
    "mhgkopdcnaemegnhaeklkfcakbaabddbabaaaabcabaadbaaaaaaamh",
    "okeipeccmafjlgnnafljjcbahaaabacaabeaabbbaaaddcabaaaaalh",
    "memnnknelbiifjlidfmojjdafbbcccecbbcaaccbadabdcaaaaaaanh",
    "jkmmeijbiajlmokmaollmjkhdeaaaaaaaaaaaaaaaaaabaaaaaaaakh",
    "oehiogehlafmffnmcnjmkdfakacabaceaadaaaaaadaaaaaaaaaabmh",
    "gdhhgedffdajdkfhijkfpdfaaaaaaaaaaaaaaaafaacaaeaaaaaadmh",
    "nfkjphkdmaiikjnhalmmjifcjabbdeebabaaabbbacaaddaabaaaanh",
    "jdkfpfgklahiffkleflokdhbjaaaaadbaabaababacaacbabaaaaaoh",
    "mfjiogcmnafihgmibmlkkegekfddeefdaedaaedeadadfeacaaaaaoh",
    "klkinkibladnmoimanmoebadabaaaaaaaaaaaaaaaaaaaaaaaaaahhh",
    "pgicpgeenabehgkfahhfcffcccabababaaaaaaaaaaaaeaaaaaaaelh",
    "ofhjmhclobcjimmfenlgdejfabccgcddabeaaeaaecadefabcaacbnh",
    "jhmhmibgmaaijehmaghpgfdhkdceeffgadfaaceccdadgcccebaajnh",
    "fhihjggejaakklhoahnmfgiddeadffggbeeaaddedgcggfabaaabbph",
    "meggpicjoaajhiliagghgafaiehaaaaaaaaaaaaaabaaaaaaabaadlh",
    "dijjbefccaajeibiakjjifeaaaekmlfilbkdhnllelbnmnkmhkidckh",
    "oafgkdabjbaiablcalecmaaalamikhlbfemjeljgmhdkkhmadcjickh",
    "lbdehaalfaalecoaaifghaaafambjjmjhlkalkignjaljmjfdceddlh",
    "kcccnaaanbaeadmaaggbiaaaealhgiokggmcgjghlgchkilegdhdcnh",
    "eacdaddacaaihkachmffbialaakhllijicfcfjjmijinmleihkjcboh",
    "kcdejbdaoaakabmaalcblaaaaaldkhjmggnddmhdmdckjjjchafafmh",
    "hceencceiaagdfhbaldfjdaaahjhigoeikmbekjmkealmkiadeaacoh",
    "oafcmcaaiaabebjaabefgaaafapcghmfdflahiifmeajhmiceacaamh",
    "caejbeeaaaadknfaaegjbaaaaajkllkklfiebmlomldkmmaidkakbjh",
    "odkfkgedhaihegmfaiihmcccjagabhniaakalbfbllabocnaaaaaclh",
    "iafcnebejaafcgicfhhefagadakdijphifkdajakjeihkifakaafboh",
    "jaddkaaamaacbamaaafcffaabamgjloheenafmggnjbikljfgaihbmh",
    "nadambfalaaacamaacfbkaaagaojciogaelaglkgmmafkkjcadeaalh",
    "macakaaagaaaaanaaafciaaabamhlmmkmelaijejmibflnkieafdcmh",
    "fifdbgdaaaafehclahdghheaaaiklngjjfhdiklojlaolmlikfceglh",
    "nabfjacgkaaiaalaanfeiiaakamfjhnhfilaglggmkemklifgakaemh",
    "hgffhgdfgabfefjeaghgpbbccahjahhaaabaakakbhjkbbpaaaaablh",
    "jadaoaaaiaaabciaabcahaaaaamgjjojidmahjjjmjaklljifakaamh",
    "iajbmaaikaefeejjeacmkeeajajckhmfhkmbhkigmjfhlnkgefjdbnh",
    "jafakaakjagaaajaakccjadalameiinkdlmbfjifllclkljegdkfcnh",
    "ececdbcacabcbndiafkgfabaabjkjjlkjalaanlnjmammoifahaegjh",
    "ncdfmdaelaaebchbaeedbcaeaangidpgdckaafhigfahihdagdaaekh",
    "ncdclddlnaacbhkbangdbagaaanfhhjfhknaajhlmhalmhgaghaacmh",
    "eaidgebdfaafhdgeagfgcaddaaiglimiijlaajnijmahinfhfmjgfoh",
    "gaecidaaiaadbdicadeefaaaaahahcjgaahaajjkgoaimmihjakhcph",
    "kchglfcfnabfdfkeahgffbfbbalaeapaaemaajmgjkaahbaagaeehmh",
    "kjkljjacdcaeeedeabefcaaaaadcedcdabbaadadbaaaaabaaabamoh",
    "lkmlllkjlehkkkklglolkijiefhhihihfhidehihgichjhhegdcdcmh",
    "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhjh",
)
