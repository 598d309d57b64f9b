/** A file that holds the settings of a program that a check runs. */
export interface RunnerConfig {
  readonly name: RegExp
  /** The pattern applies to the whole path. */
  readonly isPath?: true
  readonly tool: RegExp
  /** Returns the part of the file that matters; absent: the whole file. */
  readonly part?: (text: string) => string
  /** Returns the members of the project whose tests the check runs. A change may add members, and remove none. */
  readonly members?: (text: string) => string[]
  readonly isOftenNew?: true
  /** The usual file names, which oneshot reads to find the files that the settings name in turn. */
  readonly usual?: readonly string[]
}

export const PACKAGE_MANAGERS = /\b(?:npm|npx|pnpm|yarn|bun)\b/

const section =
  (heading: RegExp, key?: RegExp) =>
  (text: string): string => {
    const sections = text.split(/^(?=[ \t]*\[)/m).filter(one => heading.test(one.trimStart()))
    const keys = key === undefined ? [] : text.split('\n').filter(line => key.test(line))
    return [...sections, ...keys].join('').trim()
  }

const lines =
  (pattern: RegExp) =>
  (text: string): string =>
    text
      .split('\n')
      .map(line => line.trim())
      .filter(line => pattern.test(line))
      .join('\n')

const matches =
  (pattern: RegExp) =>
  (text: string): string[] =>
    [...text.matchAll(pattern)].map(([, member = '']) => member)

/** Returns the strings of the list `members` of a Cargo workspace. */
function workspaceMembers(text: string): string[] {
  const begin = /^\s{0,20}members\s{0,20}=\s{0,20}\[/m.exec(text)
  if (begin === null) return []
  const from = begin.index + begin[0].length
  const end = text.indexOf(']', from)
  return matches(/["']([^"'\n]{1,200})["']/g)(text.slice(from, end < 0 ? from : end))
}

const SCRIPT_EXTENSIONS = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts', 'json']
const withScriptExtensions = (...names: string[]): string[] =>
  names.flatMap(name => SCRIPT_EXTENSIONS.map(ending => `${name}.${ending}`))
const PYTHON_TOOLS = 'pytest|tox|nox|ruff|mypy|coverage|hatch|poe|pdm|poetry|taskipy|uv'

export const RUNNER_CONFIGS: readonly RunnerConfig[] = [
  {
    name: /^vite(?:st)?\.(?:config|workspace|setup)\.\w+$/,
    tool: /\bvite(?:st)?\b/,
    usual: withScriptExtensions('vitest.config', 'vite.config', 'vitest.workspace'),
  },
  {
    name: /^jest\.(?:config|setup|preset)\.\w+$/,
    tool: /\bjest\b|\breact-scripts\b/,
    usual: withScriptExtensions('jest.config'),
  },
  {
    name: /^\.mocharc/,
    tool: /\bmocha\b/,
    usual: ['.mocharc.js', '.mocharc.cjs', '.mocharc.json', '.mocharc.yml', '.mocharc.yaml'],
  },
  { name: /^(?:babel\.config\.\w+|\.babelrc(?:\.\w+)?)$/, tool: /\bjest\b|\breact-scripts\b/ },
  { name: /^node\.config\.json$/, tool: /\bnode\b/ },
  { name: /^ava\.config\.\w+$/, tool: /\bava\b/, usual: withScriptExtensions('ava.config') },
  {
    name: /^(?:karma\.conf|playwright\.config|cypress\.config|web-test-runner\.config)\.\w+$/,
    tool: /\b(?:karma|playwright|cypress|wtr|web-test-runner)\b/,
    usual: withScriptExtensions('karma.conf', 'playwright.config', 'cypress.config'),
  },
  { name: /^tsconfig(?:\.\w+)*\.json$/, tool: /\b(?:tsc|tsx|ts-node|vue-tsc|jest|vitest|mocha)\b/, isOftenNew: true },
  {
    name: /^(?:eslint\.config\.\w+|\.eslintrc.*|\.oxlintrc\.json|biome\.jsonc?|\.prettierrc.*|\.(?:eslint|prettier|biome)ignore)$/,
    tool: /\b(?:eslint|oxlint|biome|prettier)\b/,
  },
  { name: /^(?:\.?pytest\.(?:ini|toml)|tox\.(?:ini|toml)|noxfile\.py)$/, tool: /\b(?:pytest|tox|nox)\b/ },
  {
    name: /^(?:\.?ruff\.toml|\.?mypy\.ini|\.flake8|\.?pylintrc|\.coveragerc)$/,
    tool: /\b(?:ruff|mypy|flake8|pylint|coverage|pytest)\b/,
  },
  {
    name: /^pyproject\.toml$/,
    tool: new RegExp(`\\b(?:${PYTHON_TOOLS})\\b`),
    part: section(
      new RegExp(
        `^\\[+\\s*"?tool"?\\s*\\.\\s*"?(?:${PYTHON_TOOLS.replace('|uv', '')})\\b(?!\\.(?:group|dependencies|dev-dependencies|source))`,
      ),
      new RegExp(`^\\s*tool\\.(?:${PYTHON_TOOLS})\\.`),
    ),
  },
  {
    name: /^setup\.cfg$/,
    tool: /\b(?:pytest|flake8|mypy|coverage|setup\.py)\b/,
    part: section(/^\[(?:tool:pytest|flake8|mypy|coverage|aliases)/),
  },
  {
    name: /(?:^|\/)(?:sitecustomize|usercustomize|_?pytest|unittest|coverage)(?:\.py|\/__init__\.py)$/,
    isPath: true,
    tool: /\b(?:python[\d.]*|pytest)\b/,
  },
  {
    name: /^Cargo\.toml$/,
    tool: /\bcargo\b/,
    part: text =>
      [
        lines(/^(?:test|harness|autotests|doctest|exclude|default-members|runner)\s*=/)(text),
        section(/^\[\[?(?:test|bench|alias)\]/)(text),
      ].join('\n'),
    members: workspaceMembers,
  },
  { name: /(?:^|\/)\.cargo\/config(?:\.toml)?$/, isPath: true, tool: /\bcargo\b/ },
  { name: /^(?:clippy|rustfmt|nextest|rust-toolchain)\.toml$|^rust-toolchain$/, tool: /\bcargo\b/ },
  { name: /^go\.mod$/, tool: /\bgo\b/, part: lines(/=>|^replace\b|^exclude\b/) },
  { name: /^(?:go\.work|\.golangci\.ya?ml)$/, tool: /\b(?:go|golangci-lint)\b/ },
  { name: /^(?:phpunit\.xml.*|\.rspec|Rakefile|test_helper\.exs)$/, tool: /\b(?:phpunit|rspec|rake|mix)\b/ },
  {
    name: /^pom\.xml$/,
    tool: /\bmvnw?\b/,
    part: lines(/skip|surefire|failsafe|testFailureIgnore|testSourceDirectory|<(?:exclude|include)s?>/i),
    members: matches(/<module>([^<\n]{1,200})<\/module>/g),
  },
  { name: /(?:^|\/)\.mvn\//, isPath: true, tool: /\bmvnw?\b/ },
  {
    name: /^(?:build\.gradle(?:\.kts)?|gradle\.properties)$/,
    tool: /\bgradlew?\b/,
    part: lines(/\btest|exclude|ignoreFailures|enabled\s*=|onlyIf|\bactions\b/i),
  },
  {
    name: /^settings\.gradle(?:\.kts)?$/,
    tool: /\bgradlew?\b/,
    part: lines(/test|exclude/i),
    members: matches(/["'](:?[\w:.-]{1,200})["']/g),
  },
  { name: /^gradle-wrapper\.properties$/, tool: /\bgradlew?\b/ },
  {
    name: /^(?:CMakeLists\.txt|CTestTestfile\.cmake|CTestCustom\.cmake)$/,
    tool: /\b(?:ctest|cmake)\b/,
    part: lines(/test/i),
  },
  { name: /^CMake(?:User)?Presets\.json$/, tool: /\b(?:ctest|cmake)\b/ },
  { name: /^mix\.exs$/, tool: /\bmix\b/, part: lines(/test|alias/i) },
  {
    name: /(?:^|\/)(?:lib\/tasks\/[^/]{1,200}\.rake|\.bundle\/config)$/,
    isPath: true,
    tool: /\b(?:rake|rspec|bundle|rails)\b/,
  },
  { name: /^(?:\.bazelrc|\.bazelversion)$/, tool: /\bbazel(?:isk)?\b/ },
  { name: /^Directory\.Build\.(?:props|targets)$|\.runsettings$/, tool: /\bdotnet\b/ },
  { name: /^build\.sbt$/, tool: /\bsbt\b/, part: lines(/test/i) },
  { name: /^Package\.swift$/, tool: /\bswift\b/, part: lines(/test/i) },
  { name: /^(?:composer\.json)$/, tool: /\bcomposer\b/ },
  { name: /^(?:deno\.jsonc?)$/, tool: /\bdeno\b/ },
  { name: /^\.?justfile$/i, tool: /\bjust\b/ },
  { name: /^[Tt]askfile\.ya?ml$/, tool: /\btask\b/ },
  {
    name: /^(?:turbo\.json|nx\.json|project\.json|lerna\.json|\.pre-commit-config\.yaml)$/,
    tool: /\b(?:turbo|nx|lerna|pre-commit)\b/,
  },
  { name: /^(?:\.npmrc|\.yarnrc(?:\.yml)?|bunfig\.toml|\.pnpmfile\.cjs)$/, tool: PACKAGE_MANAGERS },
  { name: /^\.env(?:\..*)?$/, tool: /--env-file|\bdotenv\b|\.env\b/ },
]

/** Keys under which settings name files to run, and modules to load. */
const FILE_KEY =
  /(?:setupFiles(?:AfterEnv)?|globalSetup|globalTeardown|reporters|runner|testRunner|environment|testEnvironment|preset|extends|require|import|file|projects)["']?\s{0,20}[:=]\s{0,20}(?=[["'])/g
const QUOTED = /["'][^"'\n]{1,300}["']/y
/** The longest list of files, in characters. */
const MAX_LIST_LENGTH = 2_000
const IMPORTED = /(?:\bfrom|\bimport|\brequire\s{0,5}\()\s{0,20}["'](\.{1,2}\/[^"'\n]{1,300})["']/g

/** Returns the files of the project that these settings name. */
export function filesNamedByConfig(text: string): string[] {
  const run = valuesOfFileKeys(text).flatMap(value =>
    [...value.matchAll(/["']([^"'*\n]{1,300})["']/g)].flatMap(([, file = '']) => (/[./]/.test(file) ? [file] : [])),
  )
  const imported = [...text.matchAll(IMPORTED)].map(([, file = '']) => file)
  return [...run, ...imported].flatMap(file => {
    const path = file.replace(/^<rootDir>\//, './')
    return new RegExp(`\\.(?:${SCRIPT_EXTENSIONS.join('|')})$`).test(path)
      ? [path]
      : [path, ...SCRIPT_EXTENSIONS.map(ending => `${path}.${ending}`)]
  })
}

/**
 * Returns the string or the list after each key. It searches for each closing bracket once, because the time must not
 * grow with the square of the text's length.
 */
function valuesOfFileKeys(text: string): string[] {
  const values: string[] = []
  let [end, close] = [0, -1]
  for (const key of text.matchAll(FILE_KEY)) {
    const begin = key.index + key[0].length
    if (begin < end) continue // The last value contains this key.
    if (close < begin) close = indexOrEnd(text, ']', begin)
    QUOTED.lastIndex = begin
    const value = text[begin] === '[' ? text.slice(begin, close + 1) : (QUOTED.exec(text)?.[0] ?? '')
    if (value.length > MAX_LIST_LENGTH) continue
    values.push(value)
    end = begin + value.length
  }
  return values
}

function indexOrEnd(text: string, part: string, from: number): number {
  const index = text.indexOf(part, from)
  return index < 0 ? text.length : index
}
