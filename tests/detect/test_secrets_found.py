"""Every kind of secret in the carriers that it travels in, and the code that looks like one."""

from __future__ import annotations

import base64
import random
import string

import pytest

from dlpctl.detect.engine import Detector
from dlpctl.detect.patterns.measure import values

CARRIERS = (
    "{name}={value}\n",
    '  "{name}": "{value}",\n',
    "{name}: '{value}'\n",
    'export {name}="{value}"\n',
    'private static final String {name} = "{value}";\n',
    '<add key="{name}" value="{value}"/>\n',
)
CODE = """
password = getpass.getpass("Password: ")
password: str = Field(min_length=8)
self.password = generate_password_hash(password)
PASSWORD=${DB_PASSWORD:?}
password: "{{ lookup('env', 'DB_PASSWORD') }}"
api_key = os.environ["API_KEY"]
apiKey: 'YOUR_API_KEY'
token = lexer.next_token()
secretName: database-credentials
tokenUrl: https://login.example.com/oauth/token
"integrity": "sha512-kQ7vZ2mXw9TfR4bN8sLckQ7vZ2mXw9TfR4bN8sLc=="
Authorization: Bearer <token>
postgres://user:password@localhost:5432/app
const { password, passwordConfirmation } = request.body;
publicKeyToken=b77a5c561934e089
resolved "https://registry.example.org/token-types-2.0.0.tgz#b23618af744818299c6fbf125e0fdad98bab7e85"
"""


FAR_FROM_THEIR_LABELS = """
│ deploy_token │ {} │
<li><strong>Mapbox key:</strong> <code>{}</code></li>
<meta-data android:name="maps.api.key" android:value="{}" />
const DEPLOY_TOKEN: &str = "{}"
##vso[task.setvariable variable=DEPLOY_TOKEN]{}
deploy token (until May): {}
[09:11] ann: what is the deploy token?;[09:12] bob: {}
** deploy token **;{}
the token for the deployment, staging only, is below:;{}
{} is the deploy token
return "{}" // deploy token
"""
NO_KEYS = """
"foreign_key": "{}"
idempotency-key: {}
api_key_id = "{}"
KeyFingerprint: {}
partition key: {}
nextPageToken: "{}"
"""
WRITTEN = """
client.login(username="ann", password="letmein_71")
die Datei ist mit Gecko4471! verschlüsselt
the code for the lockbox is gecko4471
Your recovery codes are:;3f9a1-77bc2-90d4e
the password of the router in the attic is now "otter-falcon-12"
guest wifi is marigoldlane btw
password = "sunny.meadow"
password: s3rver.cache
if ($_POST['pass'] == 'Sunny_meadow7') {
Use **admin** / **sunny4Meadow!** for the demo.
password = Otter(71)Marble
DB_PASSWORD=sunny.meadow
db:;  password: sunny.meadow
spring.datasource.password=Sunny.meadow1210
export DB_PASSWORD=sunnymeadow
set -gx SMTP_PASSWORD sunnymeadow
const DB_PASSWORD: &'static str = "sunnymeadow"
cache.example.net:6380,password=sunnymeadow,ssl=True
the wifi password is sunnymeadow
[09:11] ann: what is the admin password?;[09:12] bob: sunnymeadow
use sunny.meadow as the password
ann: your PIN was just sent, which is it?;bob: 719 406;ann: thank you;bob: sure
log in as bob with password sunnymeadow17
Login bob, hasło Sunnymeadow17. Do jutra
das Kennwort war Sunny!meadow
Lösenordet till tjänsten är Sunny#meadow (byt det)
la clave del wifi sigue siendo sunnymeadow17?
the temporary password is;sunny.meadow17
Temp password given by phone: Sunny#meadow
my old password no longer works (Sunnymeadow17!)
Geçici şifreniz: Sunny-meadow17
password <- "sunnymeadow17"
page.fill('input[name=password]', 'Sunny-meadow-17')
I fill in "Password" with "Sunny-meadow-17"
User.objects.create_user('bob', 'bob@acme.io', 'Sunny-meadow-17')
ansible-playbook site.yml -e "ansible_become_pass=Sunnymeadow17"
crypto isakmp key Sunny!meadow address 203.0.113.9
psexec server1 -u admin -p sunnymeadow17 cmd
schtasks /create /tn x /ru backup /rp sunny-meadow17 /sc daily
app.use(session({ secret: 'Sunny!meadow' }))
cifs username=media,password=sunnymeadow,uid=1000 0 0
wpa2-pre-shared-key=Dy3lFQjMrd.eMM
use `=@Sunny-meadow17` as the password
new password is Kv7#n=E_nV?Y3 now
Mot de passe : $unny1m3ad0w
htpasswd -b .htpasswd bob *XvUCsunnyJ4
variable "db_pass" {;  type = string;  default = "Sunnymeadow17#";}
# Wifi;SSID: Attic;Key: Sunnymeadow17
@Value("Sunnymeadow17!");private String adminPassword;
ldap_simple_bind_s("cn=admin", "Sunnymeadow17")
LoginRequest("ann@acme.io", "Sunnymeadow17!")
create user bob identified by Sunnymeadow17;
U=bob, P='Sunny-meadow17'
http -a bob:Sunnymeadow17! https://acme.io
impdp system/Sunnymeadow17 directory=D
rowan: whats the server pw;teo: sunny_meadow;rowan: thanks;teo: bye
rowan — Today at 7:14 PM;whats the server pw again;teo — Today at 7:15 PM;sunny4meadow but change your nick;rowan — Today at 7:15 PM;ok;teo — Today at 7:16 PM;bye
Agent Ann Lee: the answer to your secret question?;Client: yes, it was Saint Olaf.;Agent: ok;Client: bye
ann: und die PIN der Karte?;bob: ungern, aber gut: 8306;ann: ok;bob: bis dann
[{"role": "assistant", "content": "The answer to your secret question?"}, {"role": "user", "content": "yes, it was Saint Olaf"}]
"[{\\"rolle\\":\\"bot\\",\\"text\\":\\"Und die PIN der Karte?\\"},{\\"rolle\\":\\"gast\\",\\"text\\":\\"8306\\"}]"
the passphrase is violet anchor sunday drum, please rotate it
"""
NOT_WRITTEN = """
-define(OutOfServiceToken, "OutOfService")
key_exchange({psk, Identity2}) -> ok
{"text": "Das Passwort darf nicht mit dem alten \\u00fcbereinstimmen."}
le mot de passe doit contenir 12caractères
password=zzzzzzzz
let password = String::from_utf8(buf7)
password: yup.string().required('Required3'),
$password = $env:DB_PW7
tokenId: 7c9e6679-7425-40de-944b-e07fc1f90ae7
password = config.password
password: users.passwordHash
password = "login.password.placeholder"
PASSWORD=settings.DB_PASSWORD
the password is encrypted
Her password was stolen.
use email as the password
What is the password?;I forgot
log in as bob and password protect it
password manager: 1Password
first pass: 41.2s
n={token:e.token,password:t};n.key=r("auth")
the password is;required
first pass: tokenize2
PASS: addr2line;PASS: ld-elf/compressed1d;XFAIL: pr21964-2a.so
wifi: ath6kl: fix OOB read from firmware
vertex pass: skinning4
Monthly pass: 49EUR
The pass leads to Chamonix-Sud.
Set the password to expire in 30days.
need 12chars in the password
the password has $utf8to16 in it
variable "db_pass" {;  type = string;}
@Value("${db.password}");private String password;
the password to decrypt the PKCS12 lump
It's now 14:30, and the password page is slow.
The pass phrase is only used once, and the passphrase for the key is the same as yours.
{"role": "bot", "content": "How many digits has your PIN?"}, {"role": "user", "content": "8306"}
Jimena: \\u00bfcu\\u00e1l es la clave del portal?
The keypad sends 4821 events, and the cancello is 3417 mm wide.
"ClientRequestToken": "a8ca07e4-61ec-4399-99f4-19853801bcd5"
"""


@pytest.fixture(scope="module")
def detector(library: Detector) -> Detector:
    return library.for_types(["SECRETS"])


@pytest.mark.parametrize("step", [2, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("carrier", CARRIERS)
def test_values_are_found_in_their_carriers(detector: Detector, carrier: str, step: int) -> None:
    """Each kind of value in three of the carriers, or in all of them."""
    missed = []
    kinds = values.secret_ids()[CARRIERS.index(carrier) % step :: step]
    for pattern_id in kinds:
        planted = values.secret(pattern_id, CARRIERS.index(carrier))
        text = (
            carrier.format(name=planted.name, value=planted.value)
            if planted.name
            else planted.value
        )
        if not detector.scan(text):
            missed.append(pattern_id)
    assert len(missed) <= 0.005 * len(kinds), missed


@pytest.mark.parametrize("line", CODE.strip().splitlines())
def test_code_is_left_alone(detector: Detector, line: str) -> None:
    assert detector.scan(f"{line}\n") == []


@pytest.mark.parametrize("line", FAR_FROM_THEIR_LABELS.strip().splitlines())
@pytest.mark.parametrize("alphabet", [string.hexdigits[:16], string.ascii_letters])
def test_random_values_are_found_wherever_their_label_is(
    detector: Detector, line: str, alphabet: str
) -> None:
    value = "".join(random.Random(5).choices(alphabet, k=40))
    assert detector.scan(f"{line}\n".replace(";", "\n").format(value))


@pytest.mark.parametrize("line", NO_KEYS.strip().splitlines())
def test_identifiers_with_a_key_in_their_names_are_left_alone(
    detector: Detector, line: str
) -> None:
    value = "".join(random.Random(6).choices(string.hexdigits[:16], k=40))
    assert detector.scan(f"{line}\n".format(value)) == []


def test_a_part_of_a_word_that_follows_an_encoded_run_is_no_secret(detector: Detector) -> None:
    code = base64.b64encode(b"<?php\n  print trim($output);\n?>\n").decode()
    signature = "".join(random.Random(2).choices(string.ascii_letters + string.digits, k=200))
    text = f"<data>{code}</data>\n           <filesignature>{signature}</filesignature>\n"
    assert detector.scan(text) == []


@pytest.mark.parametrize("line", WRITTEN.strip().splitlines())
def test_words_that_people_chose_are_found(detector: Detector, line: str) -> None:
    assert detector.scan(f"{line}\n".replace(";", "\n"))


@pytest.mark.parametrize("line", NOT_WRITTEN.strip().splitlines())
def test_code_and_prose_about_passwords_have_no_findings(detector: Detector, line: str) -> None:
    assert detector.scan(f"{line}\n".replace(";", "\n")) == []
