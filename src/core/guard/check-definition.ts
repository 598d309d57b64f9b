import { matchesGlob } from '../../lib/glob.ts'
import { commandsIn } from './commands-in.ts'
import type { FileChange, Weakening } from './file-change.ts'
import { includesIn, makefileFor } from './makefile.ts'
import { CONFIGS, filesOfConfig, PACKAGERS } from './runner-settings.ts'
import { sightOf } from './tests-in.ts'

/** Reads files as they were before the work was begun. */
export interface ReadBefore {
  /** The text of a file; null where there is none. */
  (path: string): string | null
  /** Files that match a pattern, the first ones of them where they are many. Absent: patterns are not followed. */
  readonly matching?: (pattern: string) => readonly string[]
}

export interface Check {
  readonly line: string
  /** Where it is run, from the top of the repository; empty for the top. */
  readonly folder: string
  /** Where the top is: paths in the line may begin with it. Absent: they do not. */
  readonly top?: string
}

/** What the check consists of, as far as it is in the repository. */
interface Definition {
  /** All that it was found to run, for the names of programs in it. */
  readonly text: string
  readonly files: ReadonlySet<string>
  readonly scripts: ReadonlySet<string>
  /** Folders in which make looks for a makefile, and makefiles that are named or included, as patterns: for which targets. */
  readonly makeFolders: ReadonlyMap<string, Set<string>>
  readonly makeFiles: ReadonlyMap<string, Set<string>>
}

/** Scripts that call scripts; nobody goes deeper. */
const DEEPEST = 20

/** Finds what was changed of the check itself: then its success says nothing about the work. */
export function changedCheck(check: Check, changes: readonly FileChange[], read: ReadBefore): Weakening[] {
  const definition = definitionOf(check, read)
  const isVendored = changes.some(({ path }) => /(?:^|\/)(?:go\.mod|modules\.txt)$/.test(path))
  return changes.flatMap(change => {
    if (change.before === change.after) return []
    const what = changeIn(change, definition, check) ?? vendorChange(change, definition, isVendored)
    return what === null ? [] : [{ path: change.path, what }]
  })
}

/** A text that says what is run, where that is run, and the folder of the file it is from. */
interface Source {
  readonly text: string
  readonly cwd: string
  readonly folder: string
}

function definitionOf({ line, folder, top }: Check, read: ReadBefore): Definition {
  const own = top === undefined ? line : line.replaceAll(`${top}/`, up(folder))
  const base = folderOf(own, folder)
  const known = { files: new Set<string>(), scripts: new Set<string>() }
  const makeFolders = new Map<string, Set<string>>()
  const makeFiles = new Map<string, Set<string>>()
  const seen = new Set<string>()
  let text = own
  let fresh: readonly Source[] = [{ text: own, cwd: base, folder: base }]
  for (let depth = 0; depth < DEEPEST && fresh.length > 0; depth++) {
    const next: Source[] = []
    for (const source of fresh) {
      const { files, scripts, makes } = commandsIn(source.text)
      const { cwd } = source
      const paths = files.flatMap(file => [joined(cwd, file), joined(source.folder, file)])
      for (const path of unseen(paths, known.files)) {
        const found = SHELL_FILE.test(path) ? read(path) : null
        if (found !== null) next.push({ text: found, cwd, folder: path.split('/').slice(0, -1).join('/') })
      }
      for (const name of unseen(scripts, known.scripts))
        next.push({ text: scriptIn(read(joined(cwd, 'package.json')), name) ?? '', cwd, folder: cwd })
      for (const { folder: way, file, targets } of makes) {
        const where = joined(cwd, way)
        const makefile = file === null ? makefileAt(where, read) : read(joined(where, file))
        const wanted = entryOf(file === null ? makeFolders : makeFiles, file === null ? where : joined(where, file))
        for (const target of targets) wanted.add(target)
        const included = includedBy(makefile ?? '', where, read)
        for (const { pattern } of included) for (const target of targets) entryOf(makeFiles, pattern).add(target)
        const whole = [makefile ?? '', ...included.map(one => one.text)].join('\n')
        next.push({ text: makefileFor(whole, [...wanted]), cwd: where, folder: where })
      }
    }
    fresh = next.filter(one => one.text !== '' && !seen.has(one.text))
    for (const one of fresh) {
      seen.add(one.text)
      text = `${text}\n${one.text}`
    }
  }
  const configs = filesOfConfigs(text, base, read)
  const files = new Set([...known.files, ...configs].filter(path => sightOf(path) === null))
  return { text, files, scripts: known.scripts, makeFolders, makeFiles }
}

const SHELL_FILE = /\.(?:sh|bash|zsh)$|\/[^./]+$|^[^./]+$/

function up(folder: string): string {
  return folder === '' ? './' : '../'.repeat(folder.split('/').length)
}

function entryOf(map: Map<string, Set<string>>, key: string): Set<string> {
  const known = map.get(key) ?? new Set<string>()
  map.set(key, known)
  return known
}

/** What a makefile includes, and what these include; the files of a pattern count as one. */
function includedBy(makefile: string, folder: string, read: ReadBefore): { pattern: string; text: string }[] {
  const found = new Map<string, string>()
  const queue = [makefile]
  for (const text of queue)
    for (const word of includesIn(text)) {
      const pattern = joined(folder, word)
      if (found.has(pattern) || found.size >= MOST_INCLUDES) continue
      const included = /[*?[]/.test(word) ? matchedText(pattern, read) : (read(pattern) ?? '')
      found.set(pattern, included)
      if (included !== '') queue.push(included)
    }
  return [...found].map(([pattern, text]) => ({ pattern, text }))
}

const MOST_INCLUDES = 100

/** A pattern without a letter is a variable that may stand for anything. */
function matchedText(pattern: string, read: ReadBefore): string {
  const name = pattern.split('/').at(-1) ?? ''
  const files = /\w/.test(name) ? (read.matching?.(pattern) ?? []) : []
  return files
    .slice(0, MOST_INCLUDES)
    .map(file => read(file) ?? '')
    .join('\n')
}

/** Settings of test runners name files that the runner runs. */
function filesOfConfigs(text: string, base: string, read: ReadBefore): string[] {
  const used = CONFIGS.filter(({ tool, usual }) => usual !== undefined && tool.test(text))
  return used.flatMap(({ usual = [] }) =>
    usual.flatMap(name => filesOfConfig(read(joined(base, name)) ?? '').map(file => joined(base, file))),
  )
}

function unseen(words: readonly string[], known: Set<string>): string[] {
  const fresh = words.filter(word => word !== '' && !known.has(word))
  for (const word of fresh) known.add(word)
  return [...new Set(fresh)]
}

/** `cd ../.. && npm test` */
function folderOf(line: string, folder: string): string {
  const way = /^\s*cd\s+([^\s;&|]+)\s*&&/.exec(line)?.[1]
  return way === undefined ? folder : joined(folder, way)
}

function joined(base: string, file: string): string {
  const parts: string[] = []
  for (const part of `${base}/${file}`.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}

const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile']

function makefileAt(base: string, read: ReadBefore): string | null {
  return MAKEFILES.map(name => read(joined(base, name))).find(text => text !== null) ?? null
}

function changeIn(change: FileChange, definition: Definition, { folder }: Check): string | null {
  const { path, before, after } = change
  const slash = path.lastIndexOf('/')
  const name = path.slice(slash + 1)
  if (definition.files.has(path))
    return after === null ? 'was deleted, and the check runs it' : 'was changed, and the check runs it'
  const made = makeChange(change, name, definition)
  if (made !== null) return made
  if (name === 'package.json') return manifestChange({ path, before, after }, definition, folder)
  if (before !== null && /^\.github\/workflows\/|^\.gitlab-ci\.yml$|^\.circleci\//.test(path))
    return before.includes(firstLine(definition.text)) ? 'was changed, and runs the check elsewhere' : null
  const config = CONFIGS.find(one => one.name.test(one.isPath ? path : name) && one.tool.test(definition.text))
  if (config === undefined || (before === null && config.isOftenNew === true)) return null
  const { part } = config
  const isSame = part === undefined ? before === after : part(before ?? '') === part(after ?? '')
  return isSame ? null : 'was changed, and is a setting of the check'
}

function makeChange({ path, before, after }: FileChange, name: string, definition: Definition): string | null {
  const { makeFolders, makeFiles } = definition
  const targets = makeFolders.get(path.slice(0, Math.max(0, path.length - name.length - 1)))
  if (MAKEFILES.includes(name) && targets !== undefined) return makefileChange(before, after, [...targets])
  const included = [...makeFiles].find(([pattern]) => matchesGlob(path, pattern))
  if (included === undefined) return null
  const wanted = [...included[1]]
  const isSame = makefileFor(before ?? '', wanted) === makefileFor(after ?? '', wanted)
  return isSame ? null : `was ${before === null ? 'added' : 'changed'}, and make reads it for the check`
}

/** Code of others is changed together with the file that says which version it is. */
function vendorChange({ path }: FileChange, { text }: Definition, isVendored: boolean): string | null {
  const isTampered = !isVendored && /\bgo\b/.test(text) && /(?:^|\/)vendor\//.test(path)
  return isTampered ? 'was changed, and go.mod does not say why' : null
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}

/** What test runners read from package.json. */
const SETTINGS = ['jest', 'mocha', 'vitest', 'ava', 'tap', 'nyc', 'c8', 'eslintConfig'] as const

function manifestChange(
  { path, before, after }: FileChange,
  { scripts, text }: Definition,
  folder: string,
): string | null {
  const isNearer = before === null && `${folder}/`.startsWith(path.slice(0, -'package.json'.length))
  if (before === null && !isNearer) return null
  const script = [...scripts].find(name => scriptIn(before, name) !== scriptIn(after, name))
  if (script !== undefined) return `the script ${script}, which the check runs, was changed`
  if (!PACKAGERS.test(text) && !SETTINGS.some(name => text.includes(name))) return null
  const setting = SETTINGS.find(name => partOf(before, name) !== partOf(after, name))
  if (setting !== undefined) return `the settings of ${setting} were changed`
  const program = DEPENDENCIES.flatMap(kind => replacedIn(before, after, kind)).find(name => text.includes(name))
  return program === undefined ? null : `${program}, which the check runs, comes from elsewhere`
}

const DEPENDENCIES = ['dependencies', 'devDependencies', 'overrides', 'resolutions'] as const

/** Packages that come from a folder, an address or another package now. */
function replacedIn(before: string | null, after: string | null, kind: string): string[] {
  const entries = (text: string | null): Record<string, unknown> => {
    const value = parsed(text)?.[kind]
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  }
  const old = entries(before)
  return Object.entries(entries(after)).flatMap(([name, from]) =>
    from !== old[name] &&
    typeof from === 'string' &&
    /^(?:file|link|portal|git|https?|npm|github)[:+]|^[.~/]/.test(from)
      ? [name]
      : [],
  )
}

function scriptIn(text: string | null, name: string): string | undefined {
  const scripts = parsed(text)?.['scripts']
  const script =
    typeof scripts === 'object' && scripts !== null ? (scripts as Record<string, unknown>)[name] : undefined
  return typeof script === 'string' ? script : undefined
}

function partOf(text: string | null, name: string): string | undefined {
  return JSON.stringify(parsed(text)?.[name])
}

function parsed(text: string | null): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined // Broken, and npm could not read it either.
  }
}

function makefileChange(before: string | null, after: string | null, targets: readonly string[]): string | null {
  if (before === null) return 'is new, and make may read it instead of the one that was there'
  if (makefileFor(before, targets) === makefileFor(after ?? '', targets)) return null
  return `what make does for ${targets.map(target => target || 'its first target').join(', ')} was changed`
}
