/**
 * Returns the rules of a makefile for these targets and all their prerequisites, as text; with everything that applies
 * to every target.
 */
export function extractTargets(text: string, targets: readonly string[]): string {
  const { rules, variables, rest } = parseMakefile(text)
  const patterns = [...rules.keys()].filter(target => target.includes('%')).slice(0, MAX_PATTERNS)
  const first = [...rules.keys()].find(target => !target.includes('%'))
  const madeBy = (need: string): string[] =>
    rules.has(need) ? [need] : patterns.filter(pattern => matchesPatternRule(need, pattern))
  const wanted = targets.flatMap(target => madeBy(target === '' ? (first ?? '') : target))
  const seen = new Set<string>()
  for (const target of wanted) {
    if (seen.has(target)) continue
    seen.add(target)
    for (const { needs } of rules.get(target) ?? [])
      for (const need of needs.split(/[\s|]+/)) wanted.push(...madeBy(need).filter(one => !seen.has(one)))
  }
  const bodies = [...seen].flatMap(target =>
    (rules.get(target) ?? []).map(rule => `${target}:${stripSourceFiles(rule.needs)}\n${rule.recipe.join('\n')}`),
  )
  const used = [...rest, ...bodies]
  return [...used, ...resolveVariables(used.join('\n'), variables)].join('\n')
}

/** Returns the files that a makefile includes, as patterns; a variable may have any value. */
export function findIncludes(text: string): string[] {
  return text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .flatMap(line => /^ *(?:-|s)?include[ \t](.*)/s.exec(line.slice(0, MAX_LINE_LENGTH))?.[1] ?? [])
    .flatMap(words =>
      stripComment(words)
        .replaceAll(/\$[({](?:sort )?\$?[({]?wildcard ([^(){}$]*)[)}]{1,2}/g, ' $1 ')
        .replaceAll(/\$\([^()]*\)|\$\{[^{}]*\}/g, '*')
        .split(/\s+/),
    )
    .filter(word => word !== '')
}

const MAX_PATTERNS = 100
/** Nobody writes a longer line by hand. */
const MAX_LINE_LENGTH = 20_000

interface Rule {
  readonly needs: string
  readonly recipe: string[]
}

function matchesPatternRule(need: string, pattern: string): boolean {
  const [before = '', after = ''] = pattern.split('%')
  return need.startsWith(before) && need.endsWith(after)
}

/** Removes source files, which may come and go: they are the tested work. */
function stripSourceFiles(words: string): string {
  return words
    .split(/\s+/)
    .filter(word => !/^[\w./-]+\.(?:o|a|so|c|cc|cpp|cxx|h|hh|hpp|java|rs|go|ml|hs|d|s|ts|js|py)$/.test(word))
    .join(' ')
}

/** Returns the variables that the text uses, directly or indirectly, and those that make or a shell itself reads. */
function resolveVariables(text: string, variables: ReadonlyMap<string, readonly string[]>): string[] {
  const found = new Map<string, string>()
  const queue = [text, ...[...variables.keys()].filter(name => SPECIAL_VARIABLES.test(name)).map(name => `$(${name})`)]
  for (const piece of queue)
    for (const [, name = ''] of piece.matchAll(/\$[({]?([\w.-]+)/g)) {
      const lines = variables.get(name)
      if (lines === undefined || found.has(name)) continue
      found.set(name, lines.map(stripSourceFiles).join('\n'))
      queue.push(lines.join('\n'))
    }
  return [...found].map(([name, value]) => `${name} ${value}`)
}

const SPECIAL_VARIABLES =
  /^(?:SHELL|\.SHELLFLAGS|MAKEFLAGS|MAKE|MAKEFILES|\.DEFAULT_GOAL|VPATH|PATH|[A-Z_]*(?:OPTIONS|ADDOPTS|PATH|PRELOAD))$/

/** Includes, conditions and special targets apply to all targets. */
function parseMakefile(text: string): { rules: Map<string, Rule[]>; variables: Map<string, string[]>; rest: string[] } {
  const rules = new Map<string, Rule[]>()
  const variables = new Map<string, string[]>()
  const rest: string[] = []
  let current: Rule[] = []
  for (const whole of text.replaceAll('\\\n', ' ').split('\n')) {
    const line = whole.slice(0, MAX_LINE_LENGTH)
    const code = stripComment(line).trim()
    if (line.startsWith('\t')) for (const one of current) one.recipe.push(line.trim())
    else if (code === '' || code.startsWith('.PHONY')) continue
    else if (parseAssignment(code) !== null) appendTo(variables, parseAssignment(code) ?? '', code)
    else {
      const rule = parseRule(line)
      if (rule === null) {
        rest.push(code)
        continue
      }
      const made: Rule = { needs: rule.needs, recipe: rule.inline === '' ? [] : [rule.inline] }
      current = [made]
      for (const target of rule.targets) appendTo(rules, target, made)
    }
  }
  return { rules, variables, rest }
}

function appendTo<T>(map: Map<string, T[]>, key: string, value: T): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, [value])
  else known.push(value)
}

/** Parses `NAME = value`, also exported or for all targets. */
function parseAssignment(code: string): string | null {
  return (
    /^(?:export |override |define )*([\w.-]+) *(?:::?:?|\?|\+|!)?=/.exec(code)?.[1] ??
    /^(?:export|define) +([\w.-]+)/.exec(code)?.[1] ??
    null
  )
}

/** Parses `targets: needs ; recipe`; returns null for a line that is no rule, or a special one. */
function parseRule(line: string): { targets: string[]; needs: string; inline: string } | null {
  const colon = line.search(/[#:=]/)
  if (colon < 1 || line[colon] !== ':' || /^[\s.]/.test(line)) return null
  const after = stripComment(line.slice(colon).replace(/^:+/, ''))
  const [needs = '', ...inline] = after.split(';')
  return {
    targets: line.slice(0, colon).trim().split(/\s+/),
    needs: needs.trim(),
    inline: inline.join(';').trim(),
  }
}

function stripComment(line: string): string {
  const mark = line.search(/(?:^|[^\\])#/)
  return mark === -1 ? line : line.slice(0, line[mark] === '#' ? mark : mark + 1)
}
