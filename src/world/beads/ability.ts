import { Trouble } from '../../lib/trouble.ts'
import type { Place } from '../../ports/tracker.ts'
import { findBd, runBd } from './bd.ts'

/** What an installed bd is, and how it is had to save what it knows. */
export interface Ability {
  readonly version: string
  /** Its arguments; null where each change is saved as it is made, and nothing else is to be done. */
  readonly sync: readonly string[] | null
}

/** Asks a bd once what it is, and again when another has been installed in its place. */
export class Abilities {
  readonly #known = new Map<string, Ability>()

  async of(place: Place, ending: AbortSignal): Promise<Ability> {
    const { version: key } = findBd(place)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const ability = { version: await versionOf(place, ending), sync: await syncOf(place, ending) }
    this.#known.set(key, ability)
    return ability
  }
}

async function versionOf(place: Place, ending: AbortSignal): Promise<string> {
  const { code, stdout } = await runBd(place, ['version'], ending)
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
async function syncOf(place: Place, ending: AbortSignal): Promise<readonly string[] | null> {
  const sync = await runBd(place, ['sync', '--help'], ending)
  if (sync.code === 0 && sync.stdout.includes('--flush-only')) return ['sync', '--flush-only']
  return null
}
