import fs from 'node:fs'
import path from 'node:path'
import { type Link, readLink } from './link.ts'
import type { Place } from './place.ts'

/** The newest one. What is known of it is not asked for again while the ref stays. */
export async function tipOf(place: Place): Promise<Link | null> {
  const { tips } = place.memory
  const file = refFile(place)
  const known = tips.get(file)
  if (known !== undefined && readLoose(file) === known.commit) return known
  const format = '--format=%(objectname)%00%(tree)%00%(contents)'
  const said = await place.git.run(['for-each-ref', format, place.ref])
  const tip = readLink(said.toString())
  if (tip !== null) rememberTip(place, tip)
  return tip
}

/** Of one that we have just made. */
export function rememberTip(place: Place, tip: Link): void {
  place.memory.tips.set(refFile(place), tip)
}

/** All of them, oldest first. */
export async function chainOf(place: Place): Promise<Link[]> {
  const tip = await tipOf(place)
  if (tip === null) return []
  // No chain is longer than its last number. Beyond its beginning lies what HEAD was then, and all of its history.
  const limit = ['-n', `${tip.telling.number}`]
  const log = ['log', '--first-parent', '--no-color', '-z', '--format=%H%x00%T%x00%B%x00', ...limit]
  const words = (await place.git.run([...log, tip.commit, '--'])).toString().split('\0')
  const links: Link[] = []
  // With -z each is ended by a NUL more.
  for (let at = 0; at + 2 < words.length; at += 4) {
    const link = readLink(words.slice(at, at + 3).join('\0'))
    const after = links.at(-1)
    if (link === null || link.telling.sessionId !== place.sessionId || link.telling.path !== place.path) break
    if (after !== undefined && link.telling.number >= after.telling.number) break
    links.push(link)
  }
  return links.reverse()
}

/** Where the ref is, which has nearly always a file of its own: git packs refs once in a while, or keeps them otherwise. */
function refFile({ repository, ref }: Place): string {
  return path.join(repository.commonDir, ref)
}

function readLoose(file: string): string | null {
  try {
    return fs.readFileSync(file, 'latin1').trim()
  } catch {
    return null // Then git is asked.
  }
}
