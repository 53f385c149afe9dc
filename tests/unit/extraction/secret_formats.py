"""Secrets made at run time from their formats, and things that only look like secrets. Nothing here is a real key."""

import base64
import json
import random
import string
import uuid
from collections.abc import Callable

Make = Callable[[random.Random], str]

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
HEX = DIGITS + "abcdef"
BASE62 = LOWER + UPPER + DIGITS
URLSAFE = BASE62 + "-_"


def chars(rng: random.Random, alphabet: str, length: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(length))


def shape(prefix: str, alphabet: str, length: int) -> Make:
    return lambda rng: prefix + chars(rng, alphabet, length)


def jwt(rng: random.Random) -> str:
    def part(value: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head = part({"alg": "HS256", "typ": "JWT"})
    return f"{head}.{part({'sub': chars(rng, DIGITS, 10), 'exp': rng.randrange(10**9)})}.{chars(rng, URLSAFE, 43)}"


def private_key(rng: random.Random) -> str:
    kind = rng.choice(["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", ""])
    lines = "\n".join(chars(rng, BASE62 + "+/", 64) for _ in range(rng.randrange(3, 26)))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{lines}\n-----END {kind}PRIVATE KEY-----"


def password(rng: random.Random) -> str:
    """As people make them: a word, digits, and now and then a sign; or quite random."""
    word = rng.choice(["hunter", "dragon", "Sommer", "qwert", "Tianya", "monkey", "zhangsan"])
    if rng.random() < 0.3:
        return chars(rng, BASE62 + "!@#%^-_", rng.randrange(10, 24)) + rng.choice(DIGITS)
    return word + rng.choice(["", "@", "!", "_", "#"]) + chars(rng, DIGITS, rng.randrange(2, 5))


BY_FORMAT: dict[str, Make] = {
    "openai": shape("sk-", BASE62, 48),
    "openai project": shape("sk-proj-", URLSAFE, 120),
    "anthropic": shape("sk-ant-api03-", URLSAFE, 95),
    "openrouter": shape("sk-or-v1-", HEX, 64),
    "deepseek, dashscope": shape("sk-", HEX, 32),
    "siliconflow": shape("sk-", LOWER, 48),
    "google": shape("AIza", URLSAFE, 35),
    "groq": shape("gsk_", BASE62, 52),
    "xai": shape("xai-", BASE62, 80),
    "huggingface": shape("hf_", LOWER + UPPER, 34),
    "zhipu": lambda rng: f"{chars(rng, HEX, 32)}.{chars(rng, BASE62, 16)}",
    "aws id": shape("AKIA", UPPER + "234567", 16),
    "tencent": shape("AKID", BASE62, 32),
    "aliyun": shape("LTAI", BASE62, 20),
    "github": lambda rng: rng.choice(["ghp_", "gho_", "ghs_"]) + chars(rng, BASE62, 36),
    "github fine-grained": lambda rng: f"github_pat_{chars(rng, BASE62, 22)}_{chars(rng, BASE62, 59)}",
    "gitlab": shape("glpat-", URLSAFE, 20),
    "slack": lambda rng: f"xoxb-{chars(rng, DIGITS, 12)}-{chars(rng, DIGITS, 13)}-{chars(rng, BASE62, 24)}",
    "stripe": lambda rng: rng.choice(["sk_live_", "sk_test_", "rk_live_"]) + chars(rng, BASE62, 24),
    "npm": shape("npm_", BASE62, 36),
    "pypi": lambda rng: "pypi-AgEIcHlwaS5vcmc" + chars(rng, URLSAFE, 140),
    "sendgrid": lambda rng: f"SG.{chars(rng, URLSAFE, 22)}.{chars(rng, URLSAFE, 43)}",
    "telegram": lambda rng: f"{chars(rng, '123456789', 9)}:AA{chars(rng, URLSAFE, 33)}",
    "openai service account": shape("sk-svcacct-", URLSAFE, 140),
    "moonshot": shape("sk-", BASE62, 48),
    "baidu": lambda rng: f"bce-v3/ALTAK-{chars(rng, BASE62, 21)}/{chars(rng, HEX, 40)}",
    "volcengine": lambda rng: "AKLT" + base64.b64encode(chars(rng, HEX, 32).encode()).decode().rstrip("="),
    "feishu token": lambda rng: "t-g1" + chars(rng, LOWER + DIGITS, 38),
    "dingtalk": shape("SEC", HEX, 64),
    "gcp token": shape("ya29.a0", URLSAFE, 150),
    "gcp client secret": shape("GOCSPX-", URLSAFE, 28),
    "aws temporary id": shape("ASIA", UPPER + "234567", 16),
    "slack user": lambda rng: f"xoxp-{chars(rng, DIGITS, 12)}-{chars(rng, DIGITS, 12)}-{chars(rng, HEX, 32)}",
    "gitlab routable": lambda rng: f"glpat-{chars(rng, URLSAFE, 27)}.01.{chars(rng, LOWER + DIGITS, 9)}",
    "jwt": jwt,
    "private key": private_key,
}
"""Found wherever they stand."""

FREE_CARRIERS = (
    "I pasted {} into the chat by mistake.",
    "client = OpenAI('{}')",
    "错误日志里出现了 {}，请帮我看看。",
    "curl -H 'X-Thing: {}' https://api.internal.test/v1",
    "- value: `{}`\n- region: eu-west-1",
    '{{"data": ["{}", 12]}}',
    "使用{}调用接口",
)

BY_NAME: tuple[tuple[str, Make], ...] = (
    ("password: {}", password),
    ("The password is {} for both.", password),
    ("密码：{}", password),
    ("数据库密码是 {}，别外传", password),
    ("root 的密码改成了 {}", password),
    ("口令: {}", password),
    ('"db_password": "{}",', password),
    ("DB_PASSWORD={}\nDB_HOST=db.internal.test", password),
    ("export PGPASSWORD='{}'", password),
    ("password = '{}'  # local only", password),
    ("spring.datasource.password={}\nspring.datasource.url=jdbc:h2:mem", password),
    ("Server=db;User Id=app;Password={};Encrypt=true", password),
    ("postgresql://app:{}@db.internal.test:5432/shop", shape("", BASE62, 14)),
    ("mongodb+srv://admin:{}@cluster0.abcde.mongodb.net/?retryWrites=true", shape("p", BASE62, 14)),
    ("redis://:{}@127.0.0.1:6379/0", shape("", BASE62, 20)),
    ("mysql -uroot -p{} shop < dump.sql", shape("S", BASE62, 11)),
    ("curl -u deploy:{} https://registry.test/v2/", shape("", BASE62, 14)),
    ("tool login --password {} --yes", password),
    ("<password>{}</password>", password),
    ("aws_secret_access_key = {}", shape("", BASE62 + "+/", 40)),
    ("SecretKey: {}", shape("", BASE62, 32)),
    ('client_secret: "{}"', shape("", BASE62 + "~._-", 34)),
    ("JWT_SECRET={}", shape("", HEX, 64)),
    ("ARK_API_KEY={}", lambda rng: str(uuid.UUID(int=rng.getrandbits(128)))),
    ("API 密钥：{}", shape("", BASE62, 32)),
    ("API key: {}", shape("", HEX, 40)),
    ("apiKey='{}'", shape("", BASE62, 32)),
    ("access_token={}&expires=3600", shape("", BASE62, 40)),
    ("X-Api-Key: {}", shape("", HEX, 32)),
    ("Authorization: Bearer {}", shape("", URLSAFE, 40)),
    ("Authorization: Basic {}", lambda rng: base64.b64encode(f"bob:{password(rng)}".encode()).decode()),
    ("AccountKey={}==;EndpointSuffix=core.windows.net", shape("", BASE62 + "+/", 86)),
    ("FEISHU_APP_SECRET={}", shape("", BASE62, 32)),
    ("AppSecret：{}", shape("", HEX, 32)),
    ("微信公众号 AppSecret 是 {}", shape("", HEX, 32)),
    ("encodingAESKey: {}", shape("", BASE62, 43)),
    ("corpsecret={}", shape("", URLSAFE, 43)),
    ("AccessKeySecret={}", shape("", BASE62, 30)),
    ("TENCENTCLOUD_SECRET_KEY={}", shape("", BASE62, 32)),
    ("VOLC_SECRETKEY={}", lambda rng: base64.b64encode(chars(rng, HEX, 45).encode()).decode()),
    ("百度 Secret Key：{}", shape("", BASE62, 32)),
    ("管理员密码是{}，请勿外传", password),
    ("Wi-Fi 密码为 {}", password),
    ("令牌：{}", shape("", BASE62, 40)),
    ("jdbc:mysql://db:3306/x?user=root&password={}", password),
    ("amqp://app:{}@mq:5672/", password),
    ('"private_key": "-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----"', shape("", BASE62 + "+/", 200)),
    ("https://hooks.slack.com/services/T0AB12CD3/B0AB12CD3EF/{}", shape("", BASE62, 24)),
    ("https://open.feishu.cn/open-apis/bot/v2/hook/{}", lambda rng: str(uuid.UUID(int=rng.getrandbits(128)))),
    ("https://open.larksuite.com/open-apis/bot/v2/hook/{}", lambda rng: str(uuid.UUID(int=rng.getrandbits(128)))),
    ("https://oapi.dingtalk.com/robot/send?access_token={}", shape("", HEX, 64)),
    ("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={}", lambda rng: str(uuid.UUID(int=rng.getrandbits(128)))),
)
"""Found by what stands beside them."""


def _uuid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128)))


LOOK_ALIKES: tuple[Make, ...] = (
    lambda rng: f"request id {_uuid(rng)} failed after {rng.randrange(9000)} ms",
    lambda rng: f"conversation: {_uuid(rng)}",
    lambda rng: f"fixed in commit {chars(rng, HEX, 40)}",
    lambda rng: f"git checkout {chars(rng, HEX, 8)} && git show {chars(rng, HEX, 40)}",
    lambda rng: f"sha256:{chars(rng, HEX, 64)}  wheel.whl",
    lambda rng: f'"integrity": "sha512-{chars(rng, BASE62 + "+/", 86)}=="',
    lambda rng: f"![shot](data:image/png;base64,iVBORw0KGgo{chars(rng, BASE62 + '+/', 400)}=)",
    lambda rng: f"data:image/jpeg;base64,/9j/{chars(rng, BASE62 + '+/', 200)}",
    lambda rng: "the sk-SK locale and the sk-learn style names",
    lambda rng: f"<div class='sk-estimator-doc-link sk-container-id-{rng.randrange(99)}'>",
    lambda rng: "set OPENAI_API_KEY=sk-your-api-key-here first",
    lambda rng: 'api_key = "YOUR_API_KEY"',
    lambda rng: "api_key = os.environ['OPENAI_API_KEY']",
    lambda rng: "token = request.headers.get('X-Token')",
    lambda rng: "password: str = Field(min_length=12)",
    lambda rng: "password: string;",
    lambda rng: "if password != confirm_password:",
    lambda rng: "password=password, user=user",
    lambda rng: "DB_PASSWORD=${DB_PASSWORD}",
    lambda rng: "password: {{ vault_db_password }}",
    lambda rng: "postgresql://user:password@localhost/db",
    lambda rng: "postgresql://app:${PGPASSWORD}@db/shop",
    lambda rng: "密码是怎么加密的？密码至少 12 位，不能为空。",
    lambda rng: "密码：必填，8-64 个字符",
    lambda rng: "The password is required and must have 12 characters.",
    lambda rng: "the password is hashed with bcrypt, the token is a JWT",
    lambda rng: f"max_tokens = {rng.randrange(10**6)}, prompt_tokens: {rng.randrange(10**6)}",
    lambda rng: f"next_page_token: {chars(rng, BASE62, 32)}",
    lambda rng: f"public_key: {chars(rng, BASE62, 44)}",
    lambda rng: "Authorization: Bearer <token>",
    lambda rng: 'headers = {"Authorization": f"Bearer {token}"}',
    lambda rng: "password authentication failed for user 'app'",
    lambda rng: "secret scanning found nothing in src/ and tests/",
    lambda rng: "kubectl get secret db-credentials -o yaml",
    lambda rng: "AbstractSingletonProxyFactoryBeanConfigurationException",
    lambda rng: "/usr/lib/python3.11/site-packages/sqlalchemy/engine/base.py:1967",
    lambda rng: f"https://example.test/blob/{chars(rng, HEX, 40)}/docs/tokens.md#api-keys",
    lambda rng: f"listening on 0.0.0.0:{rng.randrange(1024, 65535)}, pid {rng.randrange(99999)}",
    lambda rng: "the key: use WAL and a busy timeout",
    lambda rng: "token: the unit a model reads",
    lambda rng: "primary_key=True, foreign_key='users.id'",
    lambda rng: f'etag: W/"{chars(rng, HEX, 32)}"',
    lambda rng: f"src/parts/{chars(rng, LOWER, 12)}/{chars(rng, LOWER, 10)}-{chars(rng, LOWER, 9)}.module.css",
    lambda rng: f"report-final-2026-11-30T12-00-00-000Z-{chars(rng, LOWER + DIGITS, 24)}.tar.gz",
    lambda rng: f"open_id: ou_{chars(rng, HEX, 32)}, chat_id: oc_{chars(rng, HEX, 32)}",
    lambda rng: f"app_id: cli_{chars(rng, HEX, 16)}，wx{chars(rng, HEX, 16)} 是小程序的 AppID",
    lambda rng: f"trace-id: {chars(rng, HEX, 32)}",
    lambda rng: f"docker pull registry.test/app@sha256:{chars(rng, HEX, 64)}",
    lambda rng: f"arn:aws:iam::{chars(rng, DIGITS, 12)}:role/ci-deploy",
    lambda rng: f"密钥轮换每 90 天一次，令牌有效期 {rng.randrange(9)} 小时；密码错误次数过多会锁定账号。",
    lambda rng: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{chars(rng, BASE62 + '+/', 43)} me@host",
    lambda rng: f"example.test/mod v1.2.3 h1:{chars(rng, BASE62 + '+/', 43)}=",
    lambda rng: "sk-learn, t-shirt, u-boot, SECTION and task-force-one-two-three-four-five",
    lambda rng: "-----BEGIN CERTIFICATE-----\nMIIB" + chars(rng, BASE62 + "+/", 60) + "\n-----END CERTIFICATE-----",
    lambda rng: "The file begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.",
)
