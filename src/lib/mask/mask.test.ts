import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findEnvSecrets, findEnvSecretsWithBase64 } from './env-secrets.ts'
import { stripCredentials } from './strip-url-credentials.ts'
import { Mask, maskAndTruncate, maskObject } from './mask.ts'

const mask = new Mask()
const stars = (count: number): string => '*'.repeat(count)

/** A character of base62, base64url or hex. */
const alphabet = (letters: string): fc.Arbitrary<string> => fc.constantFrom(...letters.split(''))
const DIGITS = '0123456789'
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const LETTERS = UPPER + UPPER.toLowerCase()
/** Random text with at least two digits, as almost all real secrets have. */
const random = (length: number, letters = LETTERS + DIGITS): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.string({ unit: alphabet(letters), minLength: length - 1, maxLength: length - 1 }),
      fc.integer({ min: 0, max: 9 }),
    )
    .map(([text, digit]) => `${text.slice(0, 3)}${digit}${text.slice(3, -1)}7`)
const URL_SAFE = `${LETTERS}${DIGITS}_-`
const letters = (length: number): fc.Arbitrary<string> =>
  fc.string({ unit: alphabet(LETTERS), minLength: length, maxLength: length })

/** The notation of each kind of secret; `%` marks the secret itself. */
const FORMS: Readonly<Record<string, readonly [form: string, secret: fc.Arbitrary<string>]>> = {
  anthropic: ['sk-ant-%', random(95, URL_SAFE)],
  openai: ['sk-%', random(48)],
  'openai, of a project': ['sk-proj-%', random(120, URL_SAFE)],
  openrouter: ['sk-or-%', random(64, '0123456789abcdef').map(text => `v1-${text}`)],
  google: ['AIza%', random(35, URL_SAFE)],
  'google, signed in': ['ya29.%', random(60, URL_SAFE)],
  'aws, the id': ['AKIA%', random(16, UPPER + DIGITS)],
  'aws, the key': ['aws_secret_access_key = %', random(40, `${LETTERS}${DIGITS}+/`)],
  'aws, a session': ['AWS_SESSION_TOKEN=%', random(200, `${LETTERS}${DIGITS}+/`)],
  github: ['ghp_%', random(36)],
  'github, an app': ['ghs_%', random(36)],
  'github, fine-grained': ['github_pat_%', random(82)],
  gitlab: ['glpat-%', random(20, URL_SAFE)],
  slack: ['xoxb-%', fc.tuple(random(12, DIGITS), random(24)).map(parts => parts.join('-'))],
  'slack, a hook': [
    'https://hooks.slack.com/services/%',
    fc.tuple(random(10), random(24)).map(([a, b]) => `T${a}/${b}`),
  ],
  'discord, a bot': [
    'MT%',
    fc.tuple(random(22), random(6, URL_SAFE), random(38, URL_SAFE)).map(([a, b, c]) => `A${a}.${b}.${c}`),
  ],
  telegram: ['123456789:%', random(33, URL_SAFE).map(text => `AA${text}`)],
  npm: ['npm_%', random(36)],
  pypi: ['pypi-%', random(150, URL_SAFE)],
  stripe: ['sk_live_%', random(24)],
  'stripe, without a digit': ['sk_live_%', letters(24)],
  'gitlab, without a digit': ['glpat-%', letters(20)],
  'openai, of a project, without a digit': ['sk-proj-%', letters(40)],
  vault: ['hvs.%', random(90, URL_SAFE)],
  'a JSON web token': ['eyJ%', fc.tuple(random(33), random(80), random(43)).map(parts => parts.join('.'))],
  'a bearer': ['Authorization: Bearer %', random(40)],
  'basic authorization': ['Authorization: Basic %', random(24)],
  'a password': ['password=%', random(10)],
  'a password in a file': ['  password: %', random(12)],
  'a password in quotes': ['"password": "%"', fc.string({ unit: alphabet(LETTERS), minLength: 8, maxLength: 30 })],
  'a variable': ['export DB_PASSWORD=%', fc.string({ unit: alphabet(LETTERS), minLength: 8, maxLength: 30 })],
  'a password without a digit': ['password=%', fc.constantFrom('correcthorse', 'battery-staple', 'Tr@vellers')],
  'a short password': ['DB_PASSWORD=%', fc.constantFrom('hunter2', 'a1b2c3')],
  'a password that begins like a variable': ['DB_PASSWORD=%', fc.constantFrom('$up3rs3cret', '$$w0rd$x1')],
  'a password of words': ['DB_PASSWORD="%"', fc.constantFrom('correct horse battery staple', "it's mine alone")],
  'a password of words in JSON': ['"password": "%"', fc.constantFrom('pass word 123456', 'three little pigs')],
  'another key of a program': [
    'export STRIPE_KEY=%',
    fc.string({ unit: alphabet(LETTERS), minLength: 8, maxLength: 30 }),
  ],
  'a key of a session': ['SESSION_KEY=%', random(16)],
  'aws, the example key of the documentation': [
    'aws_secret_access_key = %',
    fc.constant('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'),
  ],
  'a bearer of letters': ['Bearer %', fc.string({ unit: alphabet(LETTERS), minLength: 24, maxLength: 60 })],
  'curl, a user': ['curl -s -u admin:% https://example.com', random(8)],
  'curl, a user in quotes': ["curl --user 'me:%' -X POST", fc.constant('p+w/x')],
  'an address with an @ in its password': ['postgres://user:%@db/app', fc.constantFrom('p@ss1234word', 'a@b@c')],
  'a key in JSON': ['{"apiKey":"%"}', random(24)],
  'a key in JSON in JSON': ['{\\"api_key\\": \\"%\\"}', random(24)],
  'a header': ['x-api-key: %', random(32)],
  'a token in a command': ['deploy --token %', random(20)],
  'an address with a password': ['postgres://app:%@db.example.com/app', random(12)],
  'an address with a token': ['https://%@git.example.com/a/b.git', random(40)],
  'a private key in a string': [
    '"-----BEGIN PRIVATE KEY-----\\n%\\n-----END PRIVATE KEY-----\\n"',
    random(64, `${LETTERS}${DIGITS}+/`),
  ],
}

describe.each(Object.entries(FORMS))('a secret of the form: %s', (_, [form, secrets]) => {
  test('the mask hides all of it anywhere, and nothing else moves', () => {
    const surroundings = fc.constantFrom('', 'see ', '\t', '  │ ', 'x = "', 'é: ', 'line\n', '✗ ', '(', '\\n', '%20')
    const ends = fc.constantFrom('', '\n', ' and so on', '",', '\r\n', ')', ' é')
    fc.assert(
      fc.property(secrets, surroundings, ends, (secret, before, after) => {
        const text = `${before}${form.replace('%', () => secret)}${after}`
        const hidden = mask.maskText(text)
        expect(Buffer.byteLength(hidden)).toBe(Buffer.byteLength(text))
        expect(hidden.replaceAll(/\*+/g, '')).not.toContain(secret.slice(2, 8))
        expect(hidden).toBe(`${before}${form.replace('%', stars(secret.length))}${after}`)
      }),
      { numRuns: 50 },
    )
  })
})

test.each([
  ['a hash', 'sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  ['a commit', 'commit 8d6eac0f2b1c9d7e6a5b4c3d2e1f0a9b8c7d6e5f'],
  ['a uuid', 'session 123e4567-e89b-12d3-a456-426614174000 resumed'],
  [
    'base64',
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  ],
  [
    'an integrity',
    '"integrity": "sha512-hN3VnKvJ5Fh1bYV8Qd2J2Y0e4l4o0wq1mD7sQ9h3w5s0mX3y8Pz6kL2v1cB7n4t9r5e8w2q1a3s4d5f6g7h8j9=="',
  ],
  ['paths', '/home/dev/.ssh/id_ed25519 C:\\Users\\dev\\key.pem ./node_modules/token-types/index.js:12:3'],
  ['addresses', 'https://example.com:8080/a/b@c?d=e http://localhost:3000 git@github.com:a/b.git mailto:a@example.com'],
  ['a type', 'interface Login { password: string; token: string | null; apiKey?: ApiKeyOptions }'],
  ['a call', 'const token = getTokenFromHeader2(request); const secret = readSecret()'],
  ['a variable', 'password: process.env.DB_PASSWORD1, token=${GITHUB_TOKEN_2}, secret=$SECRET_NUMBER_1, key: keys[0]'],
  ['code', 'if (tokens.length > maxTokens2) return tokenizer.next({ key: value1, secretKeyRef })'],
  ['a long name', 'accessToken: OAuth2AccessTokenProvider'],
  ['numbers', 'input_tokens=123456789 output_tokens: 1234 max_tokens=4096, token: 12345678'],
  ['a lexer', "{ token: 'identifier', regex: /x/ }, { token: 'comment.line' }"],
  [
    'words',
    'The password is required. Bearer authentication, basic authorization: see the task-list, risk-assessment-2026.',
  ],
  ['class names', '<div class="sk-folding-cube sk-cube-parent-double-bounce disk-0123456789-0123456789">'],
  ['times', '2026-11-15T10:00:00.123Z 10:00:00 1794733233:12'],
  ['placeholders', 'ANTHROPIC_API_KEY=<your key> https://user:${PASSWORD}@example.com password=********'],
  ['names of packages', 'npm_config_user_agent_is_a_rather_long_name_for_it pypi-publish xoxo'],
  ['keyword arguments', 'connect(user=user, password=user_password, secret=client_secret), password=required'],
  ['other keys', 'sort_key=created_at1 "cache_key": "user:12345678" PRIMARY_KEY=/etc/ssl/private/key.pem'],
  ['a variable of a shell', 'PASSWORD=$DB_PASSWORD password=$password1 DB_PASS=$dbPass, TOKEN=$1'],
  ['other users', 'docker run -u 1000:1000 app; chown -R me:users . && curl -u "$USER:$PASS" https://example.com'],
  ['other options', 'mkdir -pv a/b; mysql -p app; sshpass -p "$PASS" ssh me; curl --user-agent a:b'],
  [
    'sentences about passwords',
    'password required\nlogin with your password please\nCookie: see below. the cookie: it',
  ],
])('%s is no secret', (_, text) => {
  expect(mask.maskText(text)).toBe(text)
})

test('the mask hides a random-looking value even if its name alone is not enough', () => {
  expect(mask.maskText('x-api-key: aBcQeFgXiJ9LmNoPqRsTuVwX')).toBe(`x-api-key: ${stars(24)}`)
})

test('the mask hides a value to its end, whatever its length', () => {
  const value = 'a1'.repeat(5_000)
  for (const form of ['token=%', '"api_key": "%"', 'password: %', 'Bearer %'])
    expect(mask.maskText(form.replace('%', value))).toBe(form.replace('%', stars(10_000)))
})

test.each([
  ['machine example.com login me password abcdef', 'machine example.com login me password ******'],
  ['login me account you password x1!y\n', 'login me account you password ****\n'],
  ['  password hunter2\n', '  password *******\n'],
  ['sshpass -p abc ssh me@example.com', 'sshpass -p *** ssh me@example.com'],
  ["sshpass -v -p'abc' ssh", "sshpass -v -p'***' ssh"],
  ['mysql -h db -uroot -phunter2 app', 'mysql -h db -uroot -p******* app'],
  ['mysqldump -pabc --all', 'mysqldump -p*** --all'],
  ['Cookie: sid=a1; lang=en\n', 'Cookie: ***************\n'],
  ['"Set-Cookie": "sid=abc; Path=/", 1', '"Set-Cookie": "***************", 1'],
  ["curl -H 'Cookie: sid=abc' https://example.com", "curl -H 'Cookie: *******' https://example.com"],
])('the mask hides %j as %j', (text, hidden) => {
  expect(mask.maskText(text)).toBe(hidden)
})

const BODY = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj'

test('the mask hides all lines of a private key, whatever a program writes before them, and not the text after it', () => {
  for (const front of ['', '  │ ', '12:', '    7\t', '> ']) {
    const key = [
      '-----BEGIN RSA PRIVATE KEY-----',
      'Proc-Type: 4,ENCRYPTED',
      '',
      BODY,
      BODY,
      'q9w8==',
      '-----END RSA PRIVATE KEY-----',
      'done',
    ]
    const text = key.map(line => `${front}${line}\n`).join('')
    const hidden = key
      .map(line => `${front}${line === BODY ? stars(64) : line === 'q9w8==' ? stars(6) : line}\n`)
      .join('')
    expect(mask.maskText(text)).toBe(hidden)
  }
})

test('the mask hides each piece of a private key, and a truncated key ends where text begins', () => {
  const pieces = ['-----BEGIN OPENSSH PRIVATE KEY-----\n', `${BODY}\n`, `${BODY}\n`, 'and then\n', `${BODY}\n`]
  let state: Parameters<Mask['maskBytes']>[1]
  const hidden = pieces.map(piece => {
    const bytes = Buffer.from(piece)
    state = mask.maskBytes(bytes, state)
    return bytes.toString()
  })
  expect(hidden).toEqual([pieces[0], `${stars(64)}\n`, `${stars(64)}\n`, 'and then\n', `${BODY}\n`])
  const code = "if (text.startsWith('-----BEGIN PRIVATE KEY-----')) {\n  parse(text)\n}\nelse\n"
  expect(mask.maskText(code)).toBe(code)
})

test('the mask hides the value of an environment variable with a secret name in every written form', () => {
  const env = {
    MY_PASSWORD: 'correct horse "battery" staple',
    SIGNING_KEY: 'first line of it\nsecond line',
    DEPLOY_TOKEN: 'grüße-und-küsse',
    SHORT_KEY: 'abc',
    SSH_KEY: '/home/dev/.ssh/id_rsa',
    PWD: '/home/dev/project',
    EDITOR: 'an ordinary value',
  }
  const own = new Mask(findEnvSecrets(env))
  for (const secret of [
    env.MY_PASSWORD,
    JSON.stringify(env.MY_PASSWORD).slice(1, -1),
    encodeURIComponent(env.MY_PASSWORD),
  ])
    expect(own.maskText(`it says ${secret}!`)).toBe(`it says ${stars(secret.length)}!`)
  expect(own.maskText(env.SIGNING_KEY)).toBe(`${stars(16)}\n${stars(11)}`)
  expect(own.maskText(env.DEPLOY_TOKEN)).toBe(stars(Buffer.byteLength(env.DEPLOY_TOKEN)))
  const rest = [env.SHORT_KEY, env.SSH_KEY, env.PWD, env.EDITOR].join(' ')
  expect(own.maskText(rest)).toBe(rest)
})

test('findEnvSecrets knows more names, addresses, and base64 for data that leaves the machine', () => {
  const env = {
    API_KEY_2: 'second-key-of-two',
    SECRET_KEY_BASE: 'base-of-all-keys',
    DATABASE_URL: 'postgres://me:pa55-word@db/x',
    KEYBOARD: 'an ordinary layout',
  }
  expect(findEnvSecrets(env)).toEqual(['second-key-of-two', 'base-of-all-keys', 'pa55-word'])
  const kept = findEnvSecretsWithBase64(env)
  for (const front of ['', 'a', 'ab', 'abc', 'user:']) {
    for (const value of findEnvSecrets(env)) {
      for (const kind of ['base64', 'base64url'] as const) {
        const text = Buffer.from(`${front}${value} and more`).toString(kind)
        expect(kept.some(secret => text.includes(secret))).toBe(true)
      }
    }
  }
})

test('any text keeps its length, and loses all secrets of its environment', () => {
  const texts = fc.array(
    fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\n', ' token=', 'sk-', '://a:', '@', '"')),
  )
  const secret = fc.string({ unit: 'grapheme', minLength: 8, maxLength: 40 }).filter(text => !/[\s*]/.test(text))
  fc.assert(
    fc.property(texts, secret, (parts, value) => {
      const text = parts.join(value)
      const hidden = new Mask(findEnvSecrets({ A_KEY: value })).maskText(text)
      expect(Buffer.byteLength(hidden)).toBe(Buffer.byteLength(Buffer.from(text).toString()))
      expect(hidden).not.toContain(value)
    }),
  )
})

test.each([
  'sk-',
  'sk-a',
  'token=',
  'eyJ-',
  'eyJ',
  '://',
  '://a:',
  'SG.',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN PRIVATE KEY-----a-----END PRIVATE KEY-----',
  'Bearer ',
  'ghp_',
  'password="',
  'curl -u ',
  'curl -u a:',
  'mysql -p',
  'password ',
  'login a password ',
  'Cookie: ',
  'sshpass -a ',
  '://a:b@',
  "password='a ",
  'A_KEY=',
])('a megabyte of %s in one line does not delay the mask', word => {
  const bytes = Buffer.from(word.repeat(Math.ceil(1_048_576 / word.length)))
  const begun = performance.now()
  mask.maskBytes(bytes)
  expect(performance.now() - begun).toBeLessThan(5_000) // A quadratic search would take minutes.
})

const TOKEN = 'AIzaSyA1bC2dE3fG4hI5jK6lM7nO8pQ9rS0tU1v'

test('maskAndTruncate truncates a long text, and hides a secret at the cut', () => {
  expect(maskAndTruncate('short', 5)).toBe('short')
  expect(maskAndTruncate('longer', 5)).toBe('long…')
  expect(maskAndTruncate(`${'x'.repeat(20)} ${TOKEN}`, 40)).toBe(`${'x'.repeat(20)} AIza${'*'.repeat(14)}…`)
})

test('maskObject hides secrets in every text of an object', () => {
  const hidden = { list: [`key ${'*'.repeat(8)}`, 1, null], in: { it: true } }
  expect(maskObject({ list: ['key let-me-1', 1, null], in: { it: true } }, new Mask(['let-me-1']))).toEqual(hidden)
})

test.each([
  ['origin', 'origin'],
  ['https://me:secret@host/x.git', 'https://host/x.git'],
  ['https://me:a@b@host/x@y', 'https://host/x@y'],
  ['https://host/a@b', 'https://host/a@b'],
  ['git@host:x.git', 'git@host:x.git'],
  ['/srv/a@b.git', '/srv/a@b.git'],
])('stripCredentials shows %s as %s', (address, shown) => {
  expect(stripCredentials(address)).toBe(shown)
})
