"""Words of which the names in programs are made: what tells `XmlSecTransformSha384Class` from a
key.

The commonest parts of identifiers in Python's standard library and the packages that this project
is tested with, with the words of services and accounts.
"""

from __future__ import annotations

_TEXT = """
    abc able about above abs absolute abspath abstract abstractmethod accept accepted accepts access
    according account across action active actual actually add added adding addition additional address
    adds adjust admin advised after again against agreed algorithm alias aliases alive all allow allowed
    allows along alpha already also alternative always amazon amount analysis anchor and angle
    annotation annotations another any anything anyway apache api appear appears append applicable
    application applied applies apply appropriate arbitrary archive are aren arg args argument arguments
    argv arising around array arrays ascii assert assertion assign assigned assignment associated assume
    assumed async attempt attr attribute attributes attrs audience auth author authority authors auto
    automatically available avoid azure back backend background backward backwards bad bar base based
    basename basic basis bearer because become been before begin beginning behavior behaviour being
    below best better between binary binascii bind bit bits black blank blob block blocks blue body bold
    bool boolean both bottom bound bounds bracket branch break broken bucket buffer bugs build builder
    building builds built builtin builtins business but bygroups byte bytearray bytes cache cached
    calculate call callable callback called caller calling calls can cancel candidate cannot care case
    cases cast catch category cause caused certain certificate chain change changed changes char
    character characters chars charset check checked checking checks child children choice choices
    choose chunk chunks cipher claim class classes classmethod clause clean cleanup clear client clone
    close closed closing cluster code codec codecs codes coding collect collection collections colon
    color colors column columns com combine come comma command commands comment comments commit common
    compare comparison compat compatibility compatible compile compiled compiler complete complex
    compliance component components compression compute condition conditions config configuration
    configure configured connect connection consequential consider considered console const constant
    constants construct constructor contain contained container containing contains content contents
    context contextlib contextmanager continue contract contributor contributors control convenience
    conversion convert converted converts cookie copied copies copy copyright core correct correctly
    corresponding could count counter cover create created creates creating creation credential
    credentials cross cryptodome current currently custom customer cycle damage damages dash data
    database dataclass dataclasses date datetime deal debug debugging decimal declaration decode decoded
    decoder decoding decorator decrypt dedicated def default defaults define defined defines defining
    definition definitions del delete deleted dependencies dependency depending depends deploy
    deprecated deprecation depth derived desc describe description descriptor desired dest destination
    details detect detected determine determined device dict dictionary didn difference different digest
    digit digits dir direct directly directories directory dirname dirs disable disabled discard
    disclaimed disclaimer disk display dist distributed distribution distutils doc docker docs docstring
    document documentation does doesn doing domain don done double down draw drop dual due dummy dump
    dumps duplicate during dynamic each earlier early easy effect eight either element elements elif
    ellipsis else email embedded emit empty enable enabled encode encoded encoder encoding encodings
    encrypt encryption end ends endswith enough ensure enter entire entries entry enum enumerate env
    environ environment equal equals equivalent err errno error errors escape escaped etc eval even
    event ever every everything exact exactly example examples exc except exception exceptions exclude
    exclusive exec executable execute executed execution exemplary exist existing exists exit expand
    expect expected explicit explicitly export expr express expression expressions ext extend extended
    extension extensions external extra extract factory fail failed fails failure fall fallback false
    fast faster feature features feed field fields figure file filename filenames files filesystem fill
    filter filters final finalize finally find fine finish finished first fitness five fixed flag flags
    float floor flush folder follow followed following follows font foo for force form format formats
    formatted formatter formatting forms forward found foundation four fraction frame free from frozen
    frozenset full fullname fully func function functions functools further future general generally
    generate generated generation generator generic get getattr getitem getregentry gets getvalue github
    gitlab give given gives glob global globals gmail going good goods google got governing grant
    granted greater green group groups guard hack half handle handled handler handles handling happen
    happens hard has hasattr hash have having head header headers heading height hello help helper
    helpers here hide high higher highlight hint history hold holder holders holds home hook horizontal
    host how however hyphen hypothesis identifier identifiers identity ignore ignorecase ignored
    ignoring image immediately implement implementation implemented implements implicit implied import
    important imported importing importlib imports incidental include included includes including
    incompatible incorrect incremental indent index indicate indicates indices indirect individual info
    information inherit init initial initialization initialize initialized inline inner input insert
    inserted inside inspect install installation installed instance instances instantiate instead int
    integer integers intended interface internal internally interpreter interrupt interruption into
    invalid invoice invoke isdir isfile isinstance isn issue issuer issues italic item items iter
    iterable iterate iteration iterator itertools its itself join json just jwt kafka keep keeps kept
    key keys keyword keywords kind kinds know known kubernetes kwargs label labels lambda lang language
    large last later latin lazy leading least leave left legacy len length less let letter level lexer
    lexers liability liable lib library license licensed licenses like likely limit limitations limited
    line lineno lines link links linux list listed lists literal literals little live load loaded loader
    loading loads local locals location locations lock log logger logging logic login logout long longer
    look looking looks lookup loop loss lower lstrip machine made magic main major make makes making
    manager manually many map mapping maps mark marked marker markers marks markup mask master match
    matched matches matching materials math max maximum maxsize may maybe mean meaning means member
    members memory memoryview merge message messages meta metaclass metadata meth method methods middle
    might mimetypes min minimum minor minus misc missing mixin mod mode model modification modified
    modify module modules mongo more most move mozilla much multi multiline multiple must mutable mypy
    mypyc name named names namespace native necessary need needed needs negative negligence neither
    nested never new newline newlines next node nodes non none noqa normal normalize normalized normally
    not note nothing notice now null num number numbers numeric oauth obj object objects obtain off
    offset old older omitted once one ones only open opened operation operations operator operators
    option optional optionally options opts order ordered ordering org orig origin original ose other
    others otherwise our out output outside over overflow overload overridden override overrides own
    owner pack package packages packaging padding page pair pairs param parameter parameters params
    parent parse parsed parser parsing part partial particular partition parts pass passed passing
    password patch path pathlib paths pattern patterns payment pep per percent perform performance
    permission permissions permitted pip pipe place plain platform platforms please plugin plus point
    pointer points policy pop port pos position positional positive posix possibility possible possibly
    post postgres power pragma pre prefer prefix prepare present preserve pretty prev prevent previous
    previously primitive principal print prior priority private probably problem problems process
    processed processing procurement produce produced production profits program progress project prompt
    proper properly properties property protocol provide provided provider provides proxy pseudo public
    punctuation pure purpose push put pygments pytest python query question quote quoted quotes raise
    raised raises random range rather raw reached read readable reader reading readline reads real
    really realm reason received record recursion recursive recursively redis redistribution reduce ref
    refer reference references refresh regarding regex region register registered registry regular
    related relative release relevant remaining remove removed rename render repeat replace replaced
    replacement report reported reportlab reports repository repr represent representation representing
    represents reproduce request requested requests require required requirement requires res reserved
    reset resolve resolved resource resources response rest restore result resulting results retain
    return returned returning returns reverse reversed rich right rights role root round rows rror
    rstrip rule rules run running runs runtime safe same sample save saved scale scan schema scheme
    scope script scripts search second seconds secret section see seek seems seen segment select self
    semantics semicolon send sent sep separate separated separator sequence sequences server services
    session set setattr setdefault sets setter setting settings setup setuptools several shall share
    shared shell shift short should shouldn show shutil side sign signal signature signing similar
    simple simply since single site size skip skipped skipping slack slash sleep slice slots slow small
    socket soft software some something sometimes sort sorted source sources space spaces span spec
    special specific specification specified specifies specify specifying split splitext splitlines
    square stable stack stacklevel staging standard star start started starting starts startswith stat
    state statement statements static staticmethod status stderr stdin stdout step still stop storage
    store stored strategy stream streamreader streams streamwriter strict string strings strip stripe
    stroke struct structure stuff style styles sub subclass subclasses subject subprocess subsequent
    subset substitute subtype success such suffix suitable suite sum summary super supplied support
    supported supports suppress sure switch symbol symbols syntax sys system systems table tables tag
    tags tail take taken takes target team tell temp tempfile template temporary tenant term terminal
    terms test testing tests text than that the their them then theory there therefore these they thing
    things this those though thread threading threads three through thus tilde time timeout times
    timestamp title todo together token tokens too tools top tort total trace traceback track trailing
    transform translate treat treated tree trigger true truncate try trying tuple tuples turn twilio two
    type typed types typically typing uint unable unchanged undefined under underlying unexpected
    unicode union unique unit unittest unix unknown unless unlink unpack unset unsupported until unused
    update updated upper url urllib usage use used useful user username users uses using usually utf
    util utility utils val valid validate validation value values var variable variables variant various
    vars vault vendor verbose verify version versionadded versions vertical very via view virtual
    visible visit void wait walk want warn warning warnings warranties warranty was way weakref webhook
    well were what whatever wheel when where whether which while white whitespace whole whose width wiki
    will win windows with within without word words work working works world would wrap wrapped wrapper
    wraps write writer writes writing written wrong yet yield yields you your zero zip
    """
WORDS = frozenset(_TEXT.split())
