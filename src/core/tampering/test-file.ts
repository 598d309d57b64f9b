import { LANGUAGES, NO_ASSERTION_SUFFIX, type TestLanguage } from './test-languages.ts'
import { stripComments } from './strip-comments.ts'

/** A file that differs from before. Paths start at the top of the repository. */
export interface EditedFile {
  readonly path: string
  /** Null: the file did not exist before, or does not exist any more. */
  readonly before: string | null
  readonly after: string | null
  /** The number of added and removed lines, as git counts them. Absent: unknown. */
  readonly added?: number
  readonly removed?: number
  /** False if somebody else than the worker changed the file. */
  readonly isOwn?: boolean
}

/** An objection to a piece of work, for one file. */
export interface TamperedFile {
  readonly path: string
  /** A part of a sentence: `package.json: the script test was changed`. */
  readonly what: string
}

/** The parsed facts about the tests of a file. */
export interface TestFile {
  /** The titles of the tests that run, each as often as it occurs. */
  readonly titles: readonly string[]
  /** The titles of tests that check nothing. */
  readonly bare: ReadonlySet<string>
  /**
   * The number of places where the file skips a group of tests, runs only some, and ends with success before its end.
   */
  readonly skips: number
  readonly onlys: number
  readonly exits: number
  /** The file contains nothing that tests. */
  readonly isEmpty: boolean
  /** Lines whose failure does not count, without the suffix that causes it. */
  readonly ignored: ReadonlySet<string>
  readonly lines: ReadonlySet<string>
}

/**
 * The way in which a runner finds a file: by its name, or because it lies in a test folder; null: it does not find it.
 */
export type TestDiscovery = 'name' | 'folder' | null

const TEST_FOLDER = /(?:^|\/)(?:tests?|__tests__|specs?|e2e|testing|t)\//i
/** Runners search none of these. */
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

/** Returns true also for other names: in some languages tests stand beside the code. */
export function mayContainTests(path: string): boolean {
  return testDiscovery(path) !== null || languageOf(path)?.isBesideCode === true
}

/** Characters. No line of a test is longer: a longer line is data, or meant to slow the parser down. */
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
