import type { Tracker, TrackerContext } from '../../ports/tracker.ts'
import type { Home } from '../../state/home.ts'
import { readTrackerFile, writeTrackerFile } from '../../state/tracker-file.ts'
import { findBd, readBdJson, runBd, runBdCommand } from './bd-command.ts'
import { closeIssue, parseIssues, readIssue } from './issues.ts'
import { Trouble } from '../../lib/errors.ts'
import fs from 'node:fs'
import path from 'node:path'

/** Nobody works with a longer list. By default, bd 0.49 lists ten issues, and 1.0 a hundred. */
const LIMIT_OPTION = ['--limit', '200'] as const

/** Tracks the issues of beads through its program `bd`. */
export function beadsTracker(home: Home): Tracker {
  const capabilities = new CapabilityCache()
  return {
    kind: 'beads',
    findRoot: ({ cwd }) => findBeads(cwd),
    version: async (context, ending) => (await capabilities.get(context, ending)).version,
    sync: async (context, ending) => {
      const { sync } = await capabilities.get(context, ending)
      if (sync !== null) await runBdCommand(context, sync, ending)
    },
    readyIssues: async (context, ending) => {
      const begun = parseIssues(await readBdJson(context, ['list', '--status', 'in_progress', ...LIMIT_OPTION], ending))
      const ready = parseIssues(await readBdJson(context, ['ready', ...LIMIT_OPTION], ending))
      return [...begun, ...ready.filter(({ id }) => !begun.some(other => other.id === id))]
    },
    findIssue: readIssue,
    closeIssue: closeIssue,
    loadSnapshot: id => readTrackerFile(home, id),
    saveSnapshot: (id, seen) => writeTrackerFile(home, id, { kind: 'beads', ...seen }),
  }
}

/** The version of an installed bd, and its command to save issues. */
export interface BdCapabilities {
  readonly version: string
  /** The arguments of the command; null if bd saves each change at once. */
  readonly sync: readonly string[] | null
}

/** Queries a bd program once, and again after its file has changed. */
class CapabilityCache {
  readonly #known = new Map<string, BdCapabilities>()

  async get(context: TrackerContext, ending: AbortSignal): Promise<BdCapabilities> {
    const { version: key } = findBd(context)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const capabilities = { version: await readVersion(context, ending), sync: await detectSync(context, ending) }
    this.#known.set(key, capabilities)
    return capabilities
  }
}

async function readVersion(context: TrackerContext, ending: AbortSignal): Promise<string> {
  const { code, stdout } = await runBd(context, ['version'], ending)
  const version = /\d{1,9}\.\d{1,9}(?:\.\d{1,9})?[\w.+-]{0,60}/.exec(stdout)?.[0]
  if (code !== 0 || version === undefined) throw new Trouble('running bd version', 'it does not tell its version')
  return version
}

/**
 * Version numbers do not show all differences, so we query each program. Up to 0.49, `bd sync` exports the issues, but
 * then commits to the user's branch, pulls and pushes: we may run only the export. From 0.51 on, bd saves every change
 * at once; `bd sync` does nothing, is missing (0.58), or merges with other machines (after 1.0.5). `bd dolt push` would
 * send the issues to a remote that the project names, so we never run it.
 */
async function detectSync(context: TrackerContext, ending: AbortSignal): Promise<readonly string[] | null> {
  const sync = await runBd(context, ['sync', '--help'], ending)
  if (sync.code === 0 && sync.stdout.includes('--flush-only')) return ['sync', '--flush-only']
  return null
}

/**
 * Returns the folder with the `.beads` of this folder: its own, or that of a parent folder within the same repository.
 * Outside of a repository only its own counts: a `.beads` in a home folder belongs to no project.
 */
export function findBeads(cwd: string): string | null {
  const folders = foldersUpTo(cwd, folder => fs.existsSync(path.join(folder, '.git')))
  return (folders ?? [cwd]).find(folder => isFolder(path.join(folder, '.beads'))) ?? null
}

/** Returns this folder and its parents up to the first for which `isLast` holds; undefined if there is none. */
function foldersUpTo(folder: string, isLast: (folder: string) => boolean): string[] | undefined {
  const passed = [folder]
  for (let place = folder; !isLast(place); passed.push(place)) {
    if (place === path.dirname(place)) return undefined
    place = path.dirname(place)
  }
  return passed
}

function isFolder(file: string): boolean {
  return fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() === true
}
