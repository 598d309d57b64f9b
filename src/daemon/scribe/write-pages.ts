import crypto from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Session } from '../../core/session.ts'
import { hideWithin } from '../../lib/mask/hide-within.ts'
import type { Mask } from '../../lib/mask/mask.ts'
import { harmless, readable } from '../../lib/terminal-text.ts'
import { type Instant, iso } from '../../lib/time.ts'
import { checkpointsPage } from '../../views/pages/checkpoints-page.ts'
import { hashOf, lastStatePage } from '../../views/pages/last-state-page.ts'
import type { Material } from '../../views/pages/material.ts'
import { recoveryPage } from '../../views/pages/recovery-page.ts'
import { statusPage } from '../../views/pages/status-page.ts'
import { viewOf } from '../../views/session-view.ts'
import { remoteUrl } from '../../world/git/remote-url.ts'
import { topAt } from '../../world/git/repository.ts'
import { selfArgv } from '../../world/os/assets.ts'
import { readEnd, readPart, replaceIn } from '../../world/os/files.ts'
import { attemptFolder, sessionFolder } from '../../world/os/folders.ts'
import { readTracked } from '../../world/os/tracker-file.ts'
import type { Folder } from '../../world/os/open-folder.ts'
import type { Note } from './note.ts'
import type { Story } from './story.ts'
import { type Studio, toldBy } from './studio.ts'

/** What the pages of a session are written with. */
export interface Writing {
  readonly session: Session
  readonly story: Story
  readonly mask: Mask
  readonly note: Note
  /** By file, what is written in it: a page that says the same is left as it is. */
  readonly written: Map<string, string>
}

/** Writes what is new of a session's pages; answers its note as it is then. One that cannot be written keeps no other back. */
export function writePages(folder: Folder, writing: Writing, studio: Studio): Note {
  const { session, note } = writing
  const now = studio.clock.now()
  // Secrets are hidden in what the pages are made of, too: they cut texts to size.
  const material = hideWithin(gather(writing, studio, now), writing.mask)
  const tracker = hideWithin(readTracked(studio.home, session.spec.id), writing.mask)
  const tasks = { name: session.spec.name, tasks: material.session.tasks, tracker }
  const hash = hashOf(tasks)
  const state = note.state?.hash === hash ? note.state : { hash, at: now }
  const pages = {
    'STATUS.md': statusPage(material),
    'CHECKPOINTS.md': checkpointsPage(material),
    'LAST_STATE.md': lastStatePage(tasks, state.at),
    'RECOVERY.md': recoveryPage(material, surroundingsOf(session, studio)),
  }
  const failures = Object.entries(pages).flatMap(([file, text]) => putPage(folder, file, text, { ...writing, now }))
  if (failures.length > 0) throw failures[0]
  return { ...note, state }
}

/** When it was written is no news. */
function putPage(
  folder: Folder,
  file: string,
  text: string,
  { mask, written, now }: Writing & { now: Instant },
): unknown[] {
  const print = crypto
    .createHash('sha1')
    .update(text.replaceAll(iso(now), ''))
    .digest('base64')
  const isThere = fs.lstatSync(folder.at(file), { throwIfNoEntry: false })?.isFile() ?? false
  if (isThere && written.get(file) === print) return []
  try {
    replaceIn(folder, file, harmless(mask.hide(text), { colour: false })) // People look at pages with cat.
    written.set(file, print)
    return []
  } catch (cause) {
    return [cause]
  }
}

function gather({ session, story, mask }: Writing, studio: Studio, now: Instant): Material {
  const { events, checkpoints, checkpointCount } = story
  const view = viewOf(session, studio.home)
  return { session, view, events, checkpoints, checkpointCount, lastWords: lastWords(session, mask, studio), now }
}

/** The last line of its log. */
function lastWords(session: Session, mask: Mask, studio: Studio): string | null {
  const { transcript } = toldBy(session, studio)
  const { id } = session.spec
  const folder = sessionFolder(studio.home, id)
  const text =
    transcript === null
      ? readEnd(attemptFolder(studio.home, id, session.attempt).stdout, READ_BYTES)
      : readPart(folder.transcript, Math.max(0, transcript - READ_BYTES), Math.min(transcript, READ_BYTES)).toString()
  const lines = readable(mask.hide(text).slice(-LAST_BYTES), { colour: false }).split('\n')
  return lines.findLast(line => line.trim() !== '')?.trim() ?? null
}

const LAST_BYTES = 2_048
/** A secret whose beginning is not read is not known as one: what is read before is not shown. */
const READ_BYTES = 2 * LAST_BYTES

function surroundingsOf({ spec, thread }: Session, { home, agents }: Studio): Parameters<typeof recoveryPage>[1] {
  const usual = path.join(os.homedir(), '.local', 'state', 'oneshot')
  const program = spec.argv[0]
  const byHand = agents(spec.agent).byHand
  return {
    program: selfArgv(),
    home: home.root === usual ? null : home.root,
    files: sessionFolder(home, spec.id).root,
    repository: repositoryOf(spec),
    byHand: byHand === undefined || thread.id === null || program === undefined ? null : byHand(program, thread.id),
  }
}

function repositoryOf({ cwd, saving }: Session['spec']): { top: string; remote: string | null } | null {
  const top = fs.existsSync(cwd) ? topAt(cwd)?.top : undefined
  if (top === undefined) return null
  return { top, remote: saving.push === null ? null : remoteUrl(top, saving.push) }
}
