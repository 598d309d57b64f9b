import { testDiscovery, parseTestFile, type EditedFile } from './test-file.ts'

/** An existing test file that differs from before. */
export interface ChangedTestFile {
  readonly path: string
  /** True if the change only adds lines: all lines from before still stand there, in the same order. */
  readonly isExtended: boolean
  readonly added: number
  readonly removed: number
}

/**
 * Finds existing tests that differ from before. No parser can tell a weaker assertion from another requirement, so a
 * check that passes with changed tests is no full proof. New test files are not among them, nor are moved ones.
 */
export function findChangedTests(changes: readonly EditedFile[]): ChangedTestFile[] {
  return changes.flatMap(change => {
    const { path, before, after, added = 0, removed = 0 } = change
    const [then, now] = [before, after].map(text => (text === null ? null : testCode(path, text)))
    if (change.isOwn === false) return []
    if (then === null || then === undefined || then === '' || then === now) return []
    if (after === null && isMoved(change, changes)) return []
    return [{ path, isExtended: typeof now === 'string' && isExtension(path, then, now), added, removed }]
  })
}

const DOCUMENT = /\.(?:md|mdx|rst|adoc)$/i
const RUST_TESTS = /^[ \t]*#\[cfg\(test\)\]/m

/** Returns the part of a file that tests; empty for a file without tests. */
function testCode(path: string, text: string): string {
  const discovery = testDiscovery(path)
  if (discovery === 'name' || (discovery === 'folder' && !DOCUMENT.test(path))) return text
  const begin = path.endsWith('.rs') && discovery === null ? text.search(RUST_TESTS) : -1
  return begin === -1 ? '' : text.slice(begin)
}

function isMoved({ path, before }: EditedFile, changes: readonly EditedFile[]): boolean {
  return changes.some(
    other =>
      other.before === null &&
      other.after !== null &&
      testDiscovery(other.path) === testDiscovery(path) &&
      (other.after === before || (nameOf(other.path) === nameOf(path) && isExtension(path, before ?? '', other.after))),
  )
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/**
 * Returns true if a change only adds lines and imported names. Added braces around existing lines change those lines:
 * they may catch a failed assertion. So does each line that follows the others in a script without test functions: the
 * last command decides about its success.
 */
function isExtension(path: string, before: string, after: string): boolean {
  if (SHELL_SCRIPT.test(path) && parseTestFile(path, before).titles.length === 0) return false
  const [then, now] = [separateImports(before), separateImports(after)]
  if (![...then.imports].every(name => now.imports.has(name))) return false
  const additions = findAdditions(significantLines(then.code), significantLines(now.code))
  return additions !== null && additions.every(lines => countBraces(lines.join('\n')) === 0)
}

const SHELL_SCRIPT = /(?:\.(?:sh|bash|zsh)|(?:^|\/)[^./]+)$/

/** `import { a, b } from 'c'`; `const { a } = require('c')`; `from c import a, b`. */
const JS_IMPORT = /^[ \t]*import\b([^'"();]{1,600})(['"])([^'"\n]{1,300})\2[ \t]*;?/gm
const JS_REQUIRE =
  /^[ \t]*(?:const|let|var)\b([^'"();=]{1,200})=[ \t]*require\([ \t]*(['"])([^'"\n]{1,300})\2[ \t]*\)[ \t]*;?/gm
const PYTHON_IMPORT = /^[ \t]*from[ \t]+([\w.]{1,200})[ \t]+import\b(?:[ \t]*\(([^)]{0,600})\)|([^\n(#]{0,1000}))/gm

/** Separates the imported names from the code: tests that are added import more names from the same module. */
function separateImports(text: string): { readonly code: string; readonly imports: ReadonlySet<string> } {
  const imports = new Set<string>()
  const add = (names: string, module: string): string => {
    for (const name of names.split(/[{},]/).map(one => one.trim().replaceAll(/\s+/g, ' ')))
      if (name !== '') imports.add(`${name} from ${module}`)
    return ''
  }
  const code = text
    .replace(JS_IMPORT, (whole: string, clause: string, _quote: string, module: string) =>
      /\bfrom\s*$/.test(clause) ? add(clause.replace(/\bfrom\s*$/, ''), module) : whole,
    )
    .replace(JS_REQUIRE, (_whole: string, names: string, _quote: string, module: string) => add(names, module))
    .replace(PYTHON_IMPORT, (_whole: string, module: string, inside: string | undefined, plain: string | undefined) =>
      add(inside ?? plain ?? '', module),
    )
  return { code, imports }
}

/** Returns the lines that are not blank. A comma or semicolon at the end separates a line from an added one. */
function significantLines(text: string): string[] {
  return text
    .split('\n')
    .map(line => line.trimEnd().replace(/[,;]$/, ''))
    .filter(line => line !== '')
}

/** Returns the groups of lines that only the second list has; null if it lacks a line of the first. */
function findAdditions(before: readonly string[], after: readonly string[]): string[][] | null {
  const groups: string[][] = [[]]
  let at = 0
  for (const line of after) {
    if (line === before[at]) {
      at++
      if (groups.at(-1)?.length !== 0) groups.push([])
    } else groups.at(-1)?.push(line)
  }
  return at === before.length ? groups : null
}

const QUOTED = /"[^"\n]{0,500}"|'[^'\n]{0,500}'|`[^`\n]{0,500}`/g

/** Returns the number of opened braces minus the number of closed ones. */
function countBraces(text: string): number {
  const code = text.replaceAll(QUOTED, '')
  return (code.match(/\{/g)?.length ?? 0) - (code.match(/\}/g)?.length ?? 0)
}
