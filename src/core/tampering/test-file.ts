import { LANGUAGES, NO_ASSERTION_SUFFIX, type TestLanguage } from './test-languages.ts'
import { stripComments } from './strip-comments.ts'

/** A file that is different from before. Paths are counted from the top of the repository. */
export interface EditedFile {
  readonly path: string
  /** Null: it was not there, or is not there any more. */
  readonly before: string | null
  readonly after: string | null
}

/** Why a piece of work is not believed, a file each. */
export interface TamperedFile {
  readonly path: string
  /** A part of a sentence: `package.json: the script test was changed`. */
  readonly what: string
}

/** What a file says about its tests. */
export interface TestFile {
  /** The titles of those that run, a title as often as it is there. */
  readonly titles: readonly string[]
  /** Those of them that check nothing. */
  readonly bare: ReadonlySet<string>
  /** How often it tells the runner to leave out a group of tests, to run only some, and to end with success before its end. */
  readonly skips: number
  readonly onlys: number
  readonly exits: number
  /** Nothing that tests is in it. */
  readonly isEmpty: boolean
  /** Lines of which the failure does not count, without what makes it so. */
  readonly ignored: ReadonlySet<string>
  readonly lines: ReadonlySet<string>
}

/** How a runner finds a file: by its name, or because it lies in a folder of tests; null: it does not. */
export type TestDiscovery = 'name' | 'folder' | null

const TEST_FOLDER = /(?:^|\/)(?:tests?|__tests__|specs?|e2e|testing|t)\//i
/** Runners look into none of these. */
const IGNORED_FOLDER = /(?:^|\/)(?:\.[^/]+|node_modules|dist|testdata)\//
const TEST_FILE_NAMES: readonly RegExp[] = [
  /\.(?:test|tests|spec|specs|cy|e2e)\.[cm]?[jt]sx?$/i,
  /(?:^|\/)test(?:-[^/]*)?\.[cm]?[jt]sx?$/,
  /[-_.]test\.[cm]?[jt]s$/,
  /(?:^|\/)(?:test_[^/]*|[^/]*_test|conftest)\.py$/,
  /_test\.(?:go|rb|exs|dart|cc|cpp|c|lua)$/,
  /_spec\.(?:rb|lua)$/,
  /(?:Tests?|Spec|IT)\.(?:java|kt|kts|cs|scala|swift|php|groovy|fs)$/,
  /\.(?:bats|t)$/,
]

export function testDiscovery(path: string): TestDiscovery {
  if (IGNORED_FOLDER.test(path)) return null
  if (TEST_FILE_NAMES.some(name => name.test(path))) return 'name'
  return TEST_FOLDER.test(path) ? 'folder' : null
}

/** Also where no name tells it: in some languages tests stand beside the code. */
export function mayContainTests(path: string): boolean {
  return testDiscovery(path) !== null || languageOf(path)?.isBesideCode === true
}

/** No line of a test is longer: what is, is data or made to be slow. */
const MAX_LINE_LENGTH = 2_000

export function parseTestFile(path: string, whole: string): TestFile {
  const language = languageOf(path)
  const text = whole
    .split('\n')
    .map(line => line.slice(0, MAX_LINE_LENGTH))
    .join('\n')
  const none = new Set<string>()
  if (language === undefined)
    return {
      titles: [],
      bare: none,
      skips: 0,
      onlys: 0,
      exits: 0,
      isEmpty: text.trim() === '',
      ignored: none,
      lines: none,
    }
  const code = stripComments(text, language.notation)
  const count = (pattern: RegExp | null, of = code): number => (pattern === null ? 0 : [...of.matchAll(pattern)].length)
  const { idle, ignored } = language
  const lines = idle === undefined && ignored === undefined ? [] : code.split('\n').map(line => line.trim())
  const titles = language.titles(code)
  const isBare = (title: string): boolean => title.endsWith(NO_ASSERTION_SUFFIX)
  const plain = (title: string): string => (isBare(title) ? title.slice(0, -NO_ASSERTION_SUFFIX.length) : title)
  return {
    titles: titles.map(plain),
    bare: new Set(titles.filter(isBare).map(plain)),
    skips: count(language.skip) + count(language.rawSkip ?? null, text),
    onlys: count(language.only),
    exits: count(language.exit),
    isEmpty: idle === undefined ? code.trim() === '' : lines.every(line => idle.test(line)),
    ignored: new Set(
      ignored === undefined ? [] : lines.filter(line => ignored.test(line)).map(line => line.replace(ignored, '')),
    ),
    lines: new Set(lines),
  }
}

function languageOf(path: string): TestLanguage | undefined {
  const ending = /\.([A-Za-z]+)$/.exec(path)?.[1]?.toLowerCase() ?? 'sh'
  return LANGUAGES.find(({ endings }) => endings.includes(ending))
}
