import { fields, isObject, tryParseJson } from '../../lib/codec.ts'
import { matchesGlob } from '../../lib/text/glob.ts'
import { parseShellCommands } from './files-run-by-shell.ts'
import type { EditedFile, TamperedFile } from './test-file.ts'
import { findIncludes, extractTargets } from './makefile.ts'
import { RUNNER_CONFIGS, filesNamedByConfig, PACKAGE_MANAGERS } from './runner-config.ts'
import { testDiscovery } from './test-file.ts'

/** Reads files as they were before the work began. */
export interface ReadBefore {
  /** Returns the text of a file, or null. */
  (path: string): string | null
  /**
   * Returns the files that match a pattern, only the first ones if there are many. Absent: the search does not follow
   * patterns.
   */
  readonly matching?: (pattern: string) => readonly string[]
}

export interface CheckCommand {
  readonly line: string
  /** The folder in which the check runs, from the top of the repository; empty for the top. */
  readonly folder: string
  /** The absolute path of the top, if paths in the line may begin with it. Absent: they do not. */
  readonly top?: string
}

/** The parts of the check that are in the repository. */
interface CheckDefinition {
  /** All commands that the check runs, to search for names of programs. */
  readonly text: string
  readonly files: ReadonlySet<string>
  readonly scripts: ReadonlySet<string>
  /**
   * Folders in which make looks for a makefile, and patterns of makefiles that are named or included, each with its
   * targets.
   */
  readonly makeFolders: ReadonlyMap<string, Set<string>>
  readonly makeFiles: ReadonlyMap<string, Set<string>>
}

/** Scripts call scripts; no real check goes deeper. */
const MAX_DEPTH = 20

/** Finds changes to the check itself: its success then says nothing about the work. */
export function findChangesToCheck(
  check: CheckCommand,
  changes: readonly EditedFile[],
  read: ReadBefore,
): TamperedFile[] {
  const definition = resolveDefinition(check, read)
  const isVendored = changes.some(({ path }) => /(?:^|\/)(?:go\.mod|modules\.txt)$/.test(path))
  return changes.flatMap(change => {
    if (change.before === change.after) return []
    const what = describeChange(change, definition, check) ?? describeVendorChange(change, definition, isVendored)
    return what === null ? [] : [{ path: change.path, what }]
  })
}

/** A text of commands, the folder in which they run, and the folder of the file that holds the text. */
interface ScriptSource {
  readonly text: string
  readonly cwd: string
  readonly folder: string
}

function resolveDefinition({ line, folder, top }: CheckCommand, read: ReadBefore): CheckDefinition {
  const own = top === undefined ? line : line.replaceAll(`${top}/`, pathToTop(folder))
  const base = folderOf(own, folder)
  const known = { files: new Set<string>(), scripts: new Set<string>() }
  const makeFolders = new Map<string, Set<string>>()
  const makeFiles = new Map<string, Set<string>>()
  const seen = new Set<string>()
  let text = own
  let fresh: readonly ScriptSource[] = [{ text: own, cwd: base, folder: base }]
  for (let depth = 0; depth < MAX_DEPTH && fresh.length > 0; depth++) {
    const next: ScriptSource[] = []
    for (const source of fresh) {
      const { files, scripts, makes } = parseShellCommands(source.text)
      const { cwd } = source
      const paths = files.flatMap(file => [joinPath(cwd, file), joinPath(source.folder, file)])
      for (const path of addUnseen(paths, known.files)) {
        const found = SHELL_FILE.test(path) ? read(path) : null
        if (found !== null) next.push({ text: found, cwd, folder: path.split('/').slice(0, -1).join('/') })
      }
      for (const name of addUnseen(scripts, known.scripts))
        next.push({ text: readScript(read(joinPath(cwd, 'package.json')), name) ?? '', cwd, folder: cwd })
      for (const { folder: way, file, targets } of makes) {
        const where = joinPath(cwd, way)
        const makefile = file === null ? readMakefile(where, read) : read(joinPath(where, file))
        const wanted = getOrCreateSet(
          file === null ? makeFolders : makeFiles,
          file === null ? where : joinPath(where, file),
        )
        for (const target of targets) wanted.add(target)
        const included = resolveIncludes(makefile ?? '', where, read)
        for (const { pattern } of included) for (const target of targets) getOrCreateSet(makeFiles, pattern).add(target)
        const whole = [makefile ?? '', ...included.map(one => one.text)].join('\n')
        next.push({ text: extractTargets(whole, [...wanted]), cwd: where, folder: where })
      }
    }
    fresh = next.filter(one => one.text !== '' && !seen.has(one.text))
    for (const one of fresh) {
      seen.add(one.text)
      text = `${text}\n${one.text}`
    }
  }
  const configs = filesNamedByConfigs(text, base, read)
  const files = new Set([...known.files, ...configs].filter(path => testDiscovery(path) === null))
  return { text, files, scripts: known.scripts, makeFolders, makeFiles }
}

const SHELL_FILE = /\.(?:sh|bash|zsh)$|\/[^./]+$|^[^./]+$/

function pathToTop(folder: string): string {
  return folder === '' ? './' : '../'.repeat(folder.split('/').length)
}

function getOrCreateSet(map: Map<string, Set<string>>, key: string): Set<string> {
  const known = map.get(key) ?? new Set<string>()
  map.set(key, known)
  return known
}

/** Returns the files that a makefile includes, directly or indirectly; the files of a pattern count as one. */
function resolveIncludes(makefile: string, folder: string, read: ReadBefore): { pattern: string; text: string }[] {
  const found = new Map<string, string>()
  const queue = [makefile]
  for (const text of queue)
    for (const word of findIncludes(text)) {
      const pattern = joinPath(folder, word)
      if (found.has(pattern) || found.size >= MAX_INCLUDES) continue
      const included = /[*?[]/.test(word) ? matchedText(pattern, read) : (read(pattern) ?? '')
      found.set(pattern, included)
      if (included !== '') queue.push(included)
    }
  return [...found].map(([pattern, text]) => ({ pattern, text }))
}

const MAX_INCLUDES = 100

/** A pattern without a letter is a variable with an unknown value. */
function matchedText(pattern: string, read: ReadBefore): string {
  const name = pattern.split('/').at(-1) ?? ''
  const files = /\w/.test(name) ? (read.matching?.(pattern) ?? []) : []
  return files
    .slice(0, MAX_INCLUDES)
    .map(file => read(file) ?? '')
    .join('\n')
}

/** Settings of test runners name files that the runner runs. */
function filesNamedByConfigs(text: string, base: string, read: ReadBefore): string[] {
  const used = RUNNER_CONFIGS.filter(({ tool, usual }) => usual !== undefined && tool.test(text))
  return used.flatMap(({ usual = [] }) =>
    usual.flatMap(name => filesNamedByConfig(read(joinPath(base, name)) ?? '').map(file => joinPath(base, file))),
  )
}

function addUnseen(words: readonly string[], known: Set<string>): string[] {
  const fresh = words.filter(word => word !== '' && !known.has(word))
  for (const word of fresh) known.add(word)
  return [...new Set(fresh)]
}

/** Handles `cd ../.. && npm test`. */
function folderOf(line: string, folder: string): string {
  const way = /^\s*cd\s+([^\s;&|]+)\s*&&/.exec(line)?.[1]
  return way === undefined ? folder : joinPath(folder, way)
}

function joinPath(base: string, file: string): string {
  const parts: string[] = []
  for (const part of `${base}/${file}`.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}

const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile']

function readMakefile(base: string, read: ReadBefore): string | null {
  return MAKEFILES.map(name => read(joinPath(base, name))).find(text => text !== null) ?? null
}

function describeChange(change: EditedFile, definition: CheckDefinition, { folder }: CheckCommand): string | null {
  const { path, before, after } = change
  const slash = path.lastIndexOf('/')
  const name = path.slice(slash + 1)
  if (definition.files.has(path))
    return after === null ? 'was deleted, and the check runs it' : 'was changed, and the check runs it'
  const made = describeMakeChange(change, name, definition)
  if (made !== null) return made
  if (name === 'package.json') return describePackageJsonChange({ path, before, after }, definition, folder)
  if (before !== null && /^\.github\/workflows\/|^\.gitlab-ci\.yml$|^\.circleci\//.test(path))
    return before.includes(firstLine(definition.text)) ? 'was changed, and runs the check elsewhere' : null
  const config = RUNNER_CONFIGS.find(one => one.name.test(one.isPath ? path : name) && one.tool.test(definition.text))
  if (config === undefined || (before === null && config.isOftenNew === true)) return null
  const { part, members } = config
  const isSame = part === undefined ? before === after : part(before ?? '') === part(after ?? '')
  if (!isSame) return 'was changed, and is a setting of the check'
  const left = new Set(members?.(after ?? ''))
  const removed = members?.(before ?? '').find(member => !left.has(member))
  return removed === undefined ? null : `lost ${removed}, whose tests the check runs`
}

function describeMakeChange(
  { path, before, after }: EditedFile,
  name: string,
  definition: CheckDefinition,
): string | null {
  const { makeFolders, makeFiles } = definition
  const targets = makeFolders.get(path.slice(0, Math.max(0, path.length - name.length - 1)))
  if (MAKEFILES.includes(name) && targets !== undefined) return describeMakefileChange(before, after, [...targets])
  const included = [...makeFiles].find(([pattern]) => matchesGlob(path, pattern))
  if (included === undefined) return null
  const wanted = [...included[1]]
  const isSame = extractTargets(before ?? '', wanted) === extractTargets(after ?? '', wanted)
  return isSame ? null : `was ${before === null ? 'added' : 'changed'}, and make reads it for the check`
}

/** A legitimate change of vendored code also changes the file that names its version. */
function describeVendorChange({ path }: EditedFile, { text }: CheckDefinition, isVendored: boolean): string | null {
  const isTampered = !isVendored && /\bgo\b/.test(text) && /(?:^|\/)vendor\//.test(path)
  return isTampered ? 'was changed, and go.mod does not say why' : null
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}

/** Fields of package.json that test runners read. */
const PACKAGE_JSON_SETTINGS = ['jest', 'mocha', 'vitest', 'ava', 'tap', 'nyc', 'c8', 'eslintConfig'] as const

function describePackageJsonChange(
  { path, before, after }: EditedFile,
  { scripts, text }: CheckDefinition,
  folder: string,
): string | null {
  const isNearer = before === null && `${folder}/`.startsWith(path.slice(0, -'package.json'.length))
  if (before === null && !isNearer) return null
  const script = [...scripts].find(name => readScript(before, name) !== readScript(after, name))
  if (script !== undefined) return `the script ${script}, which the check runs, was changed`
  if (!PACKAGE_MANAGERS.test(text) && !PACKAGE_JSON_SETTINGS.some(name => text.includes(name))) return null
  const setting = PACKAGE_JSON_SETTINGS.find(name => readField(before, name) !== readField(after, name))
  if (setting !== undefined) return `the settings of ${setting} were changed`
  const program = DEPENDENCIES.flatMap(kind => replacedPackages(before, after, kind)).find(name => text.includes(name))
  return program === undefined ? null : `${program}, which the check runs, comes from elsewhere`
}

const DEPENDENCIES = ['dependencies', 'devDependencies', 'overrides', 'resolutions'] as const

/** Returns the packages that now come from a folder, an address or another package. */
function replacedPackages(before: string | null, after: string | null, kind: string): string[] {
  const entries = (text: string | null): Record<string, unknown> => {
    const value = parseManifest(text)?.[kind]
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

function readScript(text: string | null, name: string): string | undefined {
  const scripts = parseManifest(text)?.['scripts']
  const script = isObject(scripts) ? scripts[name] : undefined
  return typeof script === 'string' ? script : undefined
}

function readField(text: string | null, name: string): string | undefined {
  return JSON.stringify(parseManifest(text)?.[name])
}

/** Returns null for a broken file: npm cannot read it either. */
function parseManifest(text: string | null): Readonly<Record<string, unknown>> | null {
  return tryParseJson(text ?? '', fields)
}

function describeMakefileChange(
  before: string | null,
  after: string | null,
  targets: readonly string[],
): string | null {
  if (before === null) return 'is new, and make may read it instead of the one that was there'
  if (extractTargets(before, targets) === extractTargets(after ?? '', targets)) return null
  return `what make does for ${targets.map(target => target || 'its first target').join(', ')} was changed`
}
