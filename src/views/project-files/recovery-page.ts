import { parseLoopPlace } from '../../core/loop/spec.ts'
import type { Session } from '../../core/session/session-state.ts'
import { formatCommandLine, quoteShellWord } from '../../lib/text/shell-words.ts'
import { formatIso } from '../../lib/time.ts'
import { stripCredentials } from '../../lib/mask/strip-url-credentials.ts'
import { renderState } from '../describe-session.ts'
import { isLoop } from '../describe-session.ts'
import { toLine, type PageData } from './page-input.ts'

/** Facts that the page needs beside the session itself. */
export interface RecoveryContext {
  /** The command that starts this program again. */
  readonly program: readonly string[]
  /** The state folder, if it is not the default one. */
  readonly home: string | null
  /** The session's own folder in the state folder. */
  readonly files: string
  /** The command that continues the conversation without oneshot; null without a conversation. */
  readonly byHand: readonly string[] | null
  /**
   * The top of the working tree around its folder, and the URL of the remote for its pushes, if known; null outside
   * git.
   */
  readonly repository: { readonly top: string; readonly remote: string | null } | null
}

/** Renders RECOVERY.md: the commands for a reader who has only this file. The reader can paste each block unchanged. */
export function renderRecovery(data: PageData, context: RecoveryContext): string {
  return [
    ...renderHeading(data),
    ...renderShellSetup(context),
    ...renderInspect(data),
    ...renderContinue(data),
    ...renderWithoutOneshot(data, context),
    ...renderFiles(data, context),
    ...renderCheckpoints(data, context),
    ...renderOtherMachine(data, context),
  ].join('\n')
}

function renderHeading({ view, now }: PageData): string[] {
  const { name, pid, reason } = view
  const state = [renderState(view), reason === null ? null : toLine(reason), pid === null ? null : `pid ${pid} runs`]
  return [
    `# How to continue ${name}`,
    '',
    `At ${formatIso(now)}, when oneshot wrote this page, the session was: ${state.filter(part => part !== null).join('; ')}.`,
    '',
  ]
}

function renderShellSetup({ home, program }: RecoveryContext): string[] {
  const homeLines =
    home === null ? [] : ['In every shell, first:', '', ...codeBlock(`export ONESHOT_HOME=${quoteShellWord(home)}`)]
  const fallbackLines = codeBlock(`oneshot() { ${program.map(quoteShellWord).join(' ')} "$@"; }`)
  return [...homeLines, 'If the shell does not find `oneshot`:', '', ...fallbackLines]
}

function renderInspect({ view }: PageData): string[] {
  const { name, id, phase } = view
  const watching = [
    'While it runs you can watch it, and leave with Ctrl-b d:',
    '',
    ...codeBlock(`oneshot attach ${name}`),
  ]
  return [
    '## Look at it',
    '',
    ...codeBlock(`oneshot status ${name}`, `oneshot log ${name}`),
    ...(phase === 'ended' ? [] : watching),
    `If the name now belongs to another session, use the id of this one instead: ${id}.`,
    '',
  ]
}

function renderContinue({ session, view }: PageData): string[] {
  const { name, task, outcome } = view
  if (view.agent === 'command') {
    const { cwd, mode, argv } = session.spec
    const again = `oneshot run --name ${task} --${mode} -- ${formatCommandLine(argv)}`
    return [
      '## If it no longer runs',
      '',
      'oneshot does not start a command twice by itself. To start it again:',
      '',
      ...codeBlock(`cd ${quoteShellWord(cwd)}`, again),
    ]
  }
  if (outcome === 'done' && isLoop(view)) {
    return [
      '## It is done',
      '',
      'The board shows its tasks and their evidence:',
      '',
      ...codeBlock(`oneshot ralph status ${name}`),
      ...renderLand(session, name),
    ]
  }
  if (outcome === 'done') {
    return [
      '## It is done',
      '',
      'To give it more to do in the same conversation:',
      '',
      ...codeBlock(`oneshot send ${name} "and then this"`),
    ]
  }
  return [
    '## If it no longer runs',
    '',
    'This starts the supervisor, the work or both, whichever is missing, and says which:',
    '',
    ...codeBlock(`oneshot resume ${name}`),
    ...(isLoop(view) ? renderLand(session, name) : []),
  ]
}

/** Shows the landing of merged work even before the loop is done. */
function renderLand({ spec }: Session, name: string): string[] {
  if (parseLoopPlace(spec.argv).parallel === null) return []
  return ['To merge its finished tasks into your checkout:', '', ...codeBlock(`oneshot ralph land ${name}`)]
}

function renderWithoutOneshot({ session, view }: PageData, { byHand }: RecoveryContext): string[] {
  if (byHand === null) return []
  return [
    '## Without oneshot',
    '',
    `Only when none of its processes runs${view.pid === null ? '' : ` (it was pid ${view.pid})`}: two processes in one conversation damage it.`,
    '',
    ...codeBlock(`cd ${quoteShellWord(session.spec.cwd)}`, formatCommandLine(byHand)),
  ]
}

function renderFiles({ session }: PageData, { files }: RecoveryContext): string[] {
  const attempt = `attempts/${session.attempt.number}/stdout and launch`
  const own = session.spec.proof === 'end-event' ? `prompt, messages, transcript, ${attempt}` : attempt
  return [
    '## Its messages and output, with nothing hidden',
    '',
    `Only you can read these files: ${own}. They are in`,
    '',
    ...codeBlock(`cd ${quoteShellWord(files)}`),
  ]
}

function renderCheckpoints({ session }: PageData, { repository }: RecoveryContext): string[] {
  const { spec, saved } = session
  if (spec.supervision.saving.mode === 'off') return []
  const title = ['## Its files, from git', '']
  if (repository === null) return [...title, 'Its folder is not in a git repository: there are no checkpoints.', '']
  const ref = checkpointRef(session)
  if (saved.last === null) return [...title, `There is no checkpoint yet. Checkpoints will be in ${ref}.`, '']
  const { number, at } = saved.last
  const cd = `cd ${quoteShellWord(repository.top)}`
  return [
    ...title,
    `The newest checkpoint was number ${number}, of ${formatIso(at)}. To list all of them, and to check out the newest in a folder beside the repository:`,
    '',
    ...codeBlock(
      cd,
      `git log --oneline --first-parent ${ref}`,
      `git worktree add --detach ${quoteShellWord(`../${spec.name}-${number}`)} ${ref}`,
    ),
    'To restore it here (this overwrites the present files):',
    '',
    ...codeBlock(cd, `git restore --source=${ref} --worktree -- .`),
  ]
}

function renderOtherMachine({ session, view }: PageData, { repository }: RecoveryContext): string[] {
  const { spec, saved } = session
  const title = ['## If this machine is lost', '']
  const { push } = spec.supervision.saving
  if (push === null || repository === null)
    return [...title, 'Then this session is lost too, because its checkpoints are not pushed anywhere.', '']
  const { pushed } = saved
  const until =
    pushed === null
      ? 'No checkpoint has arrived there yet.'
      : `Number ${pushed.number} arrived there ${formatIso(pushed.at)}.`
  const remoteUrl = stripCredentials(repository.remote ?? push)
  const from = formatCommandLine([remoteUrl])
  const resume = `oneshot resume ${spec.name} --from ${from}`
  const restore = `oneshot restore ${spec.name} --from ${from} --here`
  const isResumed = view.agent !== 'command' && !isLoop(view) && view.outcome !== 'done'
  return [
    ...title,
    `Its checkpoints are pushed to ${toLine(remoteUrl)}. ${until} In a fresh clone:`,
    '',
    ...codeBlock(isResumed ? resume : restore),
    ...(isResumed ? ['To restore only its files, over those of the clone:', '', ...codeBlock(restore)] : []),
    'Or without oneshot:',
    '',
    ...codeBlock(
      `git fetch ${from} 'refs/oneshot/*:refs/oneshot/*'`,
      `git switch -c ${spec.name} ${checkpointRef(session)}`,
    ),
  ]
}

/** Returns the ref, which always points to the newest checkpoint, while pruning rewrites the commits of older ones. */
function checkpointRef({ spec }: PageData['session']): string {
  return `refs/oneshot/${spec.name}/${spec.id}`
}

/** Returns a code block with a fence that no line in it can close. */
function codeBlock(...lines: string[]): string[] {
  const text = lines.join('\n')
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return [`${fence}sh`, text, fence, '']
}
