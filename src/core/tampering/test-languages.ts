import { C_LIKE, HASH, type CommentSyntax, SCRIPT } from './strip-comments.ts'

/**
 * The syntax of tests in a language, and of ways to disable them. Regular expressions match at most a line or a few
 * hundred characters: the author of a test file must not be able to slow the parser down.
 */
export interface TestLanguage {
  readonly endings: readonly string[]
  readonly notation: CommentSyntax
  /** Returns the titles of the tests that run, given code without comments. */
  readonly titles: (code: string) => string[]
  /** Skips a group of tests, or the running test. */
  readonly skip: RegExp | null
  /** The same inside a comment. */
  readonly rawSkip?: RegExp
  readonly only: RegExp | null
  /** Ends the run with success. */
  readonly exit: RegExp | null
  /** Lines that test nothing: a file of only such lines is empty. */
  readonly idle?: RegExp
  /** A suffix that makes the failure of a line not count. */
  readonly ignored?: RegExp
  /** Tests stand in any file, not only in files with certain names. */
  readonly isBesideCode?: true
}

/** The number of characters after the start of a test that may contain its title and the start of its body. */
const TITLE_DISTANCE = 600
/** The longest body of a test, in characters. */
const MAX_BODY_LENGTH = 4_000

const JS_CALL =
  /(?<![\w$.])(x?it|x?test|fit|ftest|x?specify|Deno\.test)((?:\s{0,20}(?:\.\s{0,20}\w{1,40}|\[\s{0,20}["']\w{1,40}["']\s{0,20}\])){0,6})\s{0,20}([(`])/g
const JS_EMPTY =
  /^\s*(?:(["'`]).*?\1)\s*(?:\)|,\s*(?:\{[^{}]*\}\s*,\s*)?(?:async\s*)?(?:\([^()]*\)|\w+)\s*=>\s*(?:\{\s*(?:return;?\s*)?\}|undefined|null)\s*\)|,\s*(?:async\s+)?function\s*\w*\s*\([^()]*\)\s*\{\s*(?:return;?\s*)?\}\s*\))/
const JS_OFF = /[.[]\s*["']?(?:skip|todo|skipIf|runIf|fails|failing)\b/
const JS_ASSERT =
  /\b(?:expect|assert\w*|should|t|chai|sinon|cy|verify|snapshot|toMatch\w*|throw|check|fc)\b\s*[.(]|\bthrow\b/
const JS_TRIVIAL =
  /\bexpect\s*\(\s*(true|false|null|undefined|\d+|["'][^"'\n]{0,80}["'])\s*\)\s*\.\s*(?:toBe|toEqual|toStrictEqual)\s*\(\s*\1\s*\)|\bexpect\s*\(\s*(?:true|1)\s*\)\s*\.\s*toBeTruthy\s*\(\s*\)|\bassert(?:\.ok|\.equal|\.strictEqual)?\s*\(\s*(?:true|1)\s*(?:,\s*(?:true|1)\s*)?\)/g

/** Finds `it('adds', …)` with a body and without a skip. A test without an assertion gets a suffix on its title. */
function scriptTitles(code: string): string[] {
  const calls = [...code.matchAll(JS_CALL)]
  return calls.flatMap((call, n) => {
    const [whole, name = '', words = ''] = call
    const begin = call.index + whole.length
    const rest = code.slice(begin, begin + TITLE_DISTANCE)
    const isOff = name.startsWith('x') || JS_OFF.test(words)
    if (isOff || JS_EMPTY.test(rest) || /^[^)]*?\b(?:skip|todo)\s*:\s*(?:true|['"1])/.test(rest.slice(0, 300)))
      return []
    if (/\.\s*each\b/.test(words)) return ['each']
    const title = /^\s*(["'`])(.*?)\1/.exec(rest)?.[2] ?? rest.slice(0, 40).split(/[,)]/)[0]?.trim() ?? ''
    const body = code.slice(begin, Math.min(calls[n + 1]?.index ?? code.length, begin + MAX_BODY_LENGTH))
    return [
      JS_ASSERT.test(body.replaceAll(JS_TRIVIAL, ' ')) || !/=>|\bfunction\b/.test(body)
        ? title
        : `${title}${NO_ASSERTION_SUFFIX}`,
    ]
  })
}

/** Follows the title of a test that checks nothing. */
export const NO_ASSERTION_SUFFIX = ' (checks nothing)'

const PY_TEST = /^([ \t]*)(?:async[ \t]+)?def[ \t]+(test\w*)[ \t]*\(/
const PY_CLASS = /^class[ \t]+(Test\w*)|^class[ \t]+(\w+)[ \t]*\([^)]*TestCase/
const PY_IDLE = /^(?:pass|\.\.\.|return(?: None| True)?|assert (?:True|1|1 ?== ?1)|(["'])[^"']*\1|print\(.*\)|)$/

function pythonTitles(code: string): string[] {
  const lines = code.split('\n')
  return lines.flatMap((line, at) => {
    const [, group, suite] = PY_CLASS.exec(line) ?? []
    if (group !== undefined || suite !== undefined) return [`class ${group ?? suite}`]
    const [, indent = '', name] = PY_TEST.exec(line) ?? []
    if (name === undefined || isSkipped(lines, at)) return []
    const body = pythonBody(lines, at, indent)
    return body === null ? [] : [PY_ASSERT.test(body) ? name : `${name}${NO_ASSERTION_SUFFIX}`]
  })
}

/** Returns true if a decorator above the test skips it. */
function isSkipped(lines: readonly string[], at: number): boolean {
  for (
    let above = at - 1;
    above >= 0 && at - above < MAX_DECORATORS && /^[ \t]*[@)\]\w"']/.test(lines[above] ?? '');
    above--
  ) {
    if (/^[ \t]*(?:def|class|async)\b/.test(lines[above] ?? '')) return false
    if (/^[ \t]*@.*(?:skip|xfail|expectedFailure)/.test(lines[above] ?? '')) return true
  }
  return false
}

const MAX_DECORATORS = 12

/** Returns the statements of a test before it returns; null if there are none. */
function pythonBody(lines: readonly string[], at: number, indent: string): string | null {
  let begin = at
  while (begin < at + MAX_DECORATORS && !lines[begin]?.includes(':')) begin++
  const inline = /:[ \t]*(\S.*)/s.exec(lines[begin]?.slice(lines[begin]?.lastIndexOf(')')) ?? '')?.[1]
  if (inline !== undefined) return PY_IDLE.test(inline.trim()) ? null : inline
  const body: string[] = []
  for (let next = begin + 1; next < lines.length && body.length < MAX_BODY_LINES; next++) {
    const line = lines[next] ?? ''
    const text = line.trim()
    if (text === '') continue
    const isOver = line.length - line.trimStart().length <= indent.length
    if (isOver || (body.length === 0 && /^(?:return|raise (?:unittest\.)?SkipTest)\b/.test(text))) break
    if (!PY_IDLE.test(text)) body.push(text)
  }
  return body.length === 0 ? null : body.join('\n')
}

const MAX_BODY_LINES = 200
const PY_ASSERT = /\bassert|\braises?\b|\b(?:fail|expect|check|verify|approve|compare|snapshot)\w*\b/i

/** Finds an annotation, possibly further ones, and then the name of a function. */
function annotatedTitles(mark: RegExp, off: RegExp): (code: string) => string[] {
  return code =>
    [...code.matchAll(mark)].flatMap(found => {
      const above = code.slice(Math.max(0, found.index - 160), found.index)
      const before = above.slice(Math.max(above.lastIndexOf('}'), above.lastIndexOf(';')) + 1)
      const begin = found.index + found[0].length
      const next = /^[^{;]*?\b(\w+)\s*[(<]/.exec(
        code.slice(begin, begin + TITLE_DISTANCE).replace(/^(?:\s*[#@[][^\n]*\n)*/, ''),
      )
      const between = code.slice(found.index, begin + 300).split('{')[0] ?? ''
      return off.test(before) || off.test(between) ? [] : [next?.[1] ?? '']
    })
}

const titlesMatching =
  (pattern: RegExp) =>
  (code: string): string[] =>
    [...code.matchAll(pattern)].map(found => found.groups?.['title'] ?? found.groups?.['name'] ?? '')

const NEVER_TRUE = String.raw`(?<![\w$.])if\s*\(\s*(?:false|0|!1)\s*\)`
/** A block that returns as it begins although more code follows, or that always returns. */
const IMMEDIATE_RETURN = String.raw`\{[ \t]*\n?[ \t]*return[ \t]*(?:undefined|true|null)?[ \t]*(?:;|\n)(?!\s{0,80}\})|(?<![\w$.])if\s*\(\s*(?:true|1|!0|!false)\s*\)\s*(?:\{\s*)?return\b|^return\b`

export const LANGUAGES: readonly TestLanguage[] = [
  {
    endings: ['js', 'cjs', 'mjs', 'jsx', 'ts', 'cts', 'mts', 'tsx'],
    notation: SCRIPT,
    titles: scriptTitles,
    skip: new RegExp(
      String.raw`(?<![\w$.])(?:describe|suite|context)\s{0,20}[.[]\s{0,20}["']?(?:skip|todo|skipIf|runIf)\b|(?<![\w$.])x(?:describe|context|suite)\s{0,20}\(|\b(?:this|t|ctx|context)\s{0,20}\.\s{0,20}(?:skip|todo)\s{0,20}\(|${NEVER_TRUE}|${IMMEDIATE_RETURN}`,
      'gm',
    ),
    only: /(?<![\w$.])(?:describe|suite|context|it|test|specify)\s{0,20}[.[]\s{0,20}["']?only\b|(?<![\w$.])f(?:it|describe|context)\s{0,20}\(|\bonly\s*:\s*true/g,
    exit: /\bprocess\s{0,20}(?:\.|\[['"])\s{0,20}(?:exit|reallyExit)(?:['"]\])?\s{0,20}\(\s{0,20}(?:0\s{0,20})?\)|\bprocess\.(?:kill|abort)\b|\bexitCode\s{0,20}=\s{0,20}0|\bDeno\.exit\(\s{0,20}0?\s{0,20}\)/g,
  },
  {
    endings: ['py'],
    notation: HASH,
    titles: pythonTitles,
    skip: /\bpytestmark\s{0,20}=|\bpytest\.(?:skip|xfail|importorskip)\s{0,20}\(|\bskipTest\s{0,20}\(|\bSkipTest\b|\b__test__\s{0,20}=\s{0,20}False|\bcollect_ignore|\bdef[ \t]+pytest_(?:collection\w*|collect_\w+|ignore_collect|pycollect_\w+|itemcollected|runtest_\w+|pyfunc_call|sessionfinish|unconfigure|cmdline_\w+|exception_interact|report_teststatus)\b|^[ \t]*@(?:pytest\.mark\.|unittest\.)?(?:skip|xfail)[^\n]*\n[ \t]*class\b|^[ \t]*if[ \t]+(?:False|0)[ \t]*:|^[ \t]*load_tests\b|^def[ \t]+load_tests\b/gm,
    only: null,
    exit: /\b(?:sys\.exit|exit|quit)\s{0,20}\(\s{0,20}(?:0\s{0,20})?\)|\bos\._exit\s{0,20}\(|\bos\.abort\b|\bpytest\.exit\s{0,20}\(|\braise[ \t]+SystemExit\b(?![ \t]*\([ \t]*[1-9])/g,
  },
  {
    endings: ['go'],
    notation: { ...C_LIKE, long: ['`'] },
    titles: titlesMatching(
      /^func[ \t]+(?:\([^)\n]{0,200}\)[ \t]*)?(?<title>(?:Test|Fuzz|Example|Benchmark)\w*)[ \t]*\([^)\n]{0,200}\)[ \t]*\{(?!\s{0,80}(?:\}|return\b))/gm,
    ),
    skip: /\b\w+\.Skip(?:f|Now)?\s{0,20}\(/g,
    rawSkip: /^\/\/[ \t]*\+?(?:go:)?build\b.*/gm,
    only: null,
    exit: /\bos\.Exit\s{0,20}\(\s{0,20}0\s{0,20}\)|\bfunc[ \t]+TestMain[ \t]*\([^)\n]{0,200}\)[ \t]*\{(?![^]{0,2000}\.Run[ \t]*\()/g,
  },
  {
    endings: ['rs'],
    notation: C_LIKE,
    titles: code => [
      ...annotatedTitles(
        /#\[\s*(?:\w+::)*(?:test|rstest|test_case|proptest)\b[^\]\n]{0,200}\]/g,
        /#\[\s*(?:ignore|cfg_attr\([^\n]{0,300}ignore)/,
      )(code),
      ...titlesMatching(/#\[(?<title>cfg\(test\))\]/g)(code),
    ],
    skip: /#!?\[\s{0,20}cfg\s{0,20}\(\s{0,20}(?:any\s{0,20}\(\s{0,20}\)|not\s{0,20}\(\s{0,20}test\s{0,20}\))/g,
    only: null,
    exit: /\bprocess::exit\s{0,20}\(\s{0,20}0\s{0,20}\)/g,
    isBesideCode: true,
  },
  {
    endings: ['java', 'kt', 'kts', 'scala', 'groovy', 'cs', 'fs', 'swift'],
    notation: C_LIKE,
    titles: code => [
      ...annotatedTitles(
        /@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)\b|\[(?:Fact|Theory|Test|TestMethod|TestCase)\b/g,
        /@(?:Disabled|Ignore)\b|\[Ignore\b|\bSkip\s*=|enabled\s*=\s*false/,
      )(code),
      ...titlesMatching(/\bfunc\s{1,20}(?<title>test\w+)\s{0,20}\(/g)(code),
    ],
    skip: /@(?:Disabled|Ignore)\w*|\[Ignore\b|\bassumeTrue\s{0,20}\(\s{0,20}false|\bXCTSkip\b/g,
    only: null,
    exit: /\b(?:System\.exit|exitProcess|Environment\.Exit|exit)\s{0,20}\(\s{0,20}0\s{0,20}\)/g,
    isBesideCode: true,
  },
  {
    endings: ['rb', 'exs'],
    notation: HASH,
    titles: titlesMatching(
      /^[ \t]*(?:(?:it|specify|scenario|test)[ \t]*(?:\([ \t]*)?(["'])(?<title>.*?)\1|def[ \t]+(?<name>test_\w+))/gm,
    ),
    skip: /^[ \t]*(?:xit|xdescribe|xcontext|skip|pending)\b|\bskip[ \t]*:[ \t]*true|@(?:module)?tag[ \t]+:skip/gm,
    only: /^[ \t]*(?:fit|fdescribe|fcontext|focus)\b|\bfocus[ \t]*:[ \t]*true/gm,
    exit: /^[ \t]*exit!?(?:[ \t]*\([ \t]*(?:(?:0|true)[ \t]*)?\)|[ \t]+(?:0|true))?[ \t]*$/gm,
  },
  {
    endings: ['php'],
    notation: { ...C_LIKE, line: ['//', '#'] },
    titles: titlesMatching(/\bfunction\s{1,20}(?<title>test\w+)\s{0,20}\(/gi),
    skip: /\bmarkTest(?:Skipped|Incomplete)\b/g,
    only: null,
    exit: /\b(?:exit|die)[ \t]*(?:\([ \t]*(?:0[ \t]*)?\)[ \t]*)?;/g,
  },
  {
    endings: ['sh', 'bash', 'zsh', 'bats', 't'],
    notation: { ...HASH, long: [] },
    titles: titlesMatching(
      /^[ \t]*(?:@test[ \t]+(["'])(?<title>.*?)\1|(?:function[ \t]+)?(?<name>test_\w+)[ \t]*\(\))/gm,
    ),
    skip: /^[ \t]*skip\b/gm,
    only: null,
    exit: /(?:^|[;&|{]|\bthen|\bdo)[ \t]*(?:exit|return)(?:[ \t]+0)?[ \t]*(?:$|[;&|}])|(?:^|[;&|])[ \t]*exec[ \t]+(?:\S*\/)?true\b|\btrap[ \t]+(['"]).{0,200}exit[ \t]{1,20}0/gm,
    idle: /^(?:true|:|exit(?: 0)?|return(?: 0)?|echo\b.*|printf\b.*|set .*|)$/,
    ignored: /(?<![ \t])[ \t]*(?:\|\|[ \t]*(?:true|:|exit 0|echo\b[^]*)|;[ \t]*true|&)[ \t]*$/,
  },
]
