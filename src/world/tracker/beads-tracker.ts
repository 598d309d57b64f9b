import type { Tracker, TrackerContext } from '../../ports/tracker.ts'
import type { Home } from '../../state/home.ts'
import { readTrackerFile, writeTrackerFile } from '../../state/tracker-file.ts'
import { findBd, readBdJson, runBd, runBdCommand } from './bd-command.ts'
import { closeIssue, parseIssues, readIssue } from './issues.ts'
import { Trouble } from '../../lib/errors.ts'
import fs from 'node:fs'
import path from 'node:path'

/** More issues than this are no list to go by. bd 0.49 tells ten unless asked, 1.0 a hundred. */
const LIMIT_OPTION = ['--limit', '200'] as const

/** beads, by its program `bd`. */
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

/** What an installed bd is, and how it is had to save what it knows. */
export interface BdCapabilities {
  readonly version: string
  /** Its arguments; null where each change is saved as it is made, and nothing else is to be done. */
  readonly sync: readonly string[] | null
}

/** Asks a bd once what it is, and again when another has been installed in its place. */
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
 * Releases differ by more than their numbers tell, so each is asked. Up to 0.49 `bd sync` writes the issues out, but then
 * commits to the user's branch, pulls and pushes: only the first of it is ours to have done. From 0.51 on every change is
 * saved as it is made; `bd sync` does nothing, is gone (0.58), or has come back to merge with other machines (after 1.0.5).
 * `bd dolt push` would send the issues to a remote that the project names, so it is never run.
 */
async function detectSync(context: TrackerContext, ending: AbortSignal): Promise<readonly string[] | null> {
  const sync = await runBd(context, ['sync', '--help'], ending)
  if (sync.code === 0 && sync.stdout.includes('--flush-only')) return ['sync', '--flush-only']
  return null
}

/**
 * The folder that holds the `.beads` this folder belongs to: its own, or that of a folder above it within the same
 * repository. Outside of one only its own: what lies in a home folder is nobody's project.
 */
export function findBeads(cwd: string): string | null {
  const folders = foldersUpTo(cwd, folder => fs.existsSync(path.join(folder, '.git')))
  return (folders ?? [cwd]).find(folder => isFolder(path.join(folder, '.beads'))) ?? null
}

/** This folder and those above it, up to one that is the last; undefined when none is. */
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
