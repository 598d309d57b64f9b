import { type Finding, type Site, textOf } from './site.ts'

export function cargo(site: Site): Finding | null {
  if (textOf(site, 'Cargo.toml') === null) return null
  return { line: 'cargo test', why: 'there is a Cargo.toml', program: 'cargo' }
}

/** Without a single test it still tells whether everything compiles. */
export function go(site: Site): Finding | null {
  if (textOf(site, 'go.mod') === null) return null
  return { line: 'go test ./...', why: 'there is a go.mod', program: 'go' }
}

/** In the order in which GNU make looks for them. */
const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile']

export function make(site: Site): Finding | null {
  const name = MAKEFILES.find(file => textOf(site, file) !== null)
  if (name === undefined || !(textOf(site, name) ?? '').split('\n').some(isTestRule)) return null
  return { line: 'make test', why: `${name} has a test target`, program: 'make' }
}

/** A rule whose targets include `test`; no assignment, no recipe, no comment. */
function isTestRule(line: string): boolean {
  const end = line.search(/[#:=]/)
  if (end < 0 || line[end] !== ':' || /^\s/.test(line) || /^:{1,3}=/.test(line.slice(end, end + 4))) return false
  return line.slice(0, end).split(/[ \t]/).includes('test')
}
