import crypto from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Session } from '../../core/session/session-state.ts'
import { type Mask, maskObject } from '../../lib/mask/mask.ts'
import { renderTerminalText, stripControls } from '../../lib/text/strip-terminal-controls.ts'
import { type Instant, formatIso } from '../../lib/time.ts'
import { renderCheckpoints } from '../../views/project-files/checkpoints-page.ts'
import { hashTasks, renderLastState } from '../../views/project-files/tasks-page.ts'
import type { PageData } from '../../views/project-files/page-input.ts'
import { renderRecovery } from '../../views/project-files/recovery-page.ts'
import { renderStatus } from '../../views/project-files/status-page.ts'
import { toSessionView } from '../../views/session-view.ts'
import { remoteUrl } from '../../world/git/checkpoint/remote/remote-url.ts'
import { findTop } from '../../world/git/repository.ts'
import { selfArgv } from '../../os/installed-files.ts'
import { readPart, readTail, replaceIn } from '../../os/files/file-io.ts'
import { attemptFolder, sessionFolder } from '../../state/session-folder.ts'
import { readTrackerFile } from '../../state/tracker-file.ts'
import type { FolderHandle } from '../../os/files/folder-handle.ts'
import { type WriterContext, describeOutput } from './context.ts'
import { type Progress } from './progress-record.ts'
import type { Checkpoint } from '../../core/checkpoint/checkpoint.ts'
import type { Event } from '../../core/session/events.ts'

/** The data for the pages of a session. */
export interface PageInput {
  readonly session: Session
  readonly story: RecentEvents
  readonly mask: Mask
  readonly note: Progress
  /** The hash of each page's content by file name. The writer leaves a page with the same content unchanged. */
  readonly written: Map<string, string>
}

/**
 * Writes the changed pages of a session and returns the new progress. A page that fails does not prevent the others.
 */
export function writePages(folder: FolderHandle, input: PageInput, context: WriterContext): Progress {
  const { session, note: progress } = input
  const now = context.clock.now()
  // Masks the data as well as the pages, because pages truncate texts.
  const data = maskObject(collectPageData(input, context, now), input.mask)
  const tracker = maskObject(readTrackerFile(context.home, session.spec.id), input.mask)
  const tasks = { name: session.spec.name, tasks: data.session.tasks, tracker }
  const hash = hashTasks(tasks)
  const state = progress.state?.hash === hash ? progress.state : { hash, at: now }
  const pages = {
    'STATUS.md': renderStatus(data),
    'CHECKPOINTS.md': renderCheckpoints(data),
    'LAST_STATE.md': renderLastState(tasks, state.at),
    'RECOVERY.md': renderRecovery(data, buildRecoveryContext(session, context)),
  }
  const failures = Object.entries(pages).flatMap(([file, text]) => writePage(folder, file, text, { ...input, now }))
  if (failures.length > 0) throw failures[0]
  return { ...progress, state }
}

/** Writes a page if its content has changed; a new time of writing alone does not count. */
function writePage(
  folder: FolderHandle,
  file: string,
  text: string,
  { mask, written, now }: PageInput & { now: Instant },
): unknown[] {
  const hash = crypto
    .createHash('sha1')
    .update(text.replaceAll(formatIso(now), ''))
    .digest('base64')
  const exists = fs.lstatSync(folder.at(file), { throwIfNoEntry: false })?.isFile() ?? false
  if (exists && written.get(file) === hash) return []
  try {
    // People read pages with cat, so the page must not contain control characters.
    replaceIn(folder, file, stripControls(mask.maskText(text), { colour: false }))
    written.set(file, hash)
    return []
  } catch (cause) {
    return [cause]
  }
}

function collectPageData(
  { session, story: recentEvents, mask }: PageInput,
  context: WriterContext,
  now: Instant,
): PageData {
  const { events, checkpoints, checkpointCount } = recentEvents
  const view = toSessionView(session, context.home)
  return { session, view, events, checkpoints, checkpointCount, lastWords: readLastLine(session, mask, context), now }
}

/** Returns the last line of the session's log. */
function readLastLine(session: Session, mask: Mask, context: WriterContext): string | null {
  const { transcript } = describeOutput(session, context)
  const { id } = session.spec
  const folder = sessionFolder(context.home, id)
  const text =
    transcript === null
      ? readTail(attemptFolder(context.home, id, session.attempt.number).stdout, READ_BYTES)
      : readPart(folder.transcript, Math.max(0, transcript - READ_BYTES), Math.min(transcript, READ_BYTES)).toString()
  const lines = renderTerminalText(mask.maskText(text).slice(-LAST_BYTES), { colour: false }).split('\n')
  return lines.findLast(line => line.trim() !== '')?.trim() ?? null
}

const LAST_BYTES = 2_048
/** Reads twice the bytes that it shows, because a mask does not recognise a secret without its beginning. */
const READ_BYTES = 2 * LAST_BYTES

function buildRecoveryContext(
  { spec, thread }: Session,
  { home, agents }: WriterContext,
): Parameters<typeof renderRecovery>[1] {
  const defaultHome = path.join(os.homedir(), '.local', 'state', 'oneshot')
  const program = spec.argv[0]
  const resumeCommand = agents(spec.agent).resumeCommand
  return {
    program: selfArgv(),
    home: home.root === defaultHome ? null : home.root,
    files: sessionFolder(home, spec.id).root,
    repository: findRepository(spec),
    byHand:
      resumeCommand === undefined || thread.id === null || program === undefined
        ? null
        : resumeCommand(program, thread.id),
  }
}

function findRepository({ cwd, supervision }: Session['spec']): { top: string; remote: string | null } | null {
  const top = fs.existsSync(cwd) ? findTop(cwd)?.top : undefined
  if (top === undefined) return null
  const { push } = supervision.saving
  return { top, remote: push === null ? null : remoteUrl(top, push) }
}

const MAX_EVENTS = 20
const MAX_CHECKPOINTS = 200

/** The last events and checkpoints of a session, as the pages show them. */
export class RecentEvents {
  readonly #events: Event[] = []
  readonly #checkpoints: Checkpoint[] = []
  #count = 0

  constructor(events: readonly Event[]) {
    for (const event of events) this.add(event)
  }

  add(event: Event): void {
    this.#events.push(event)
    if (this.#events.length > MAX_EVENTS) this.#events.shift()
    if (event.type !== 'checkpoint.saved') return
    this.#count++
    this.#checkpoints.push(event.checkpoint)
    if (this.#checkpoints.length > MAX_CHECKPOINTS) this.#checkpoints.shift()
  }

  get events(): readonly Event[] {
    return this.#events
  }

  get checkpoints(): readonly Checkpoint[] {
    return this.#checkpoints
  }

  get checkpointCount(): number {
    return this.#count
  }
}
