import type { LoopRequest } from '../../api/contract/loop-request.ts'
import type { Session } from '../../core/session.ts'
import { commandLine, quote } from '../../lib/quote.ts'
import { iso } from '../../lib/time.ts'
import { withoutLogin } from '../../lib/without-login.ts'
import { stateLabel } from '../state.ts'
import { isLoop } from '../way-on.ts'
import { inLine, type Material } from './material.ts'

/** What the page has to know beside the session itself. */
export interface Surroundings {
  /** How this program was started, as it can be started again. */
  readonly program: readonly string[]
  /** The state folder, when it is not where it usually is. */
  readonly home: string | null
  /** The session's own folder in there. */
  readonly files: string
  /** How a person goes on with its conversation without us; null where there is none. */
  readonly byHand: readonly string[] | null
  /** The top of the working tree around its folder, and where the remote is that it is pushed to, if known; null outside git. */
  readonly repository: { readonly top: string; readonly remote: string | null } | null
}

/** RECOVERY.md: what to type, for somebody who has nothing but this file. Each block can be pasted as it is. */
export function recoveryPage(material: Material, surroundings: Surroundings): string {
  return [
    ...heading(material),
    ...first(surroundings),
    ...look(material),
    ...goOn(material),
    ...byHand(material, surroundings),
    ...files(material, surroundings),
    ...checkpoints(material, surroundings),
    ...elsewhere(material, surroundings),
  ].join('\n')
}

function heading({ view, now }: Material): string[] {
  const { name, pid, reason } = view
  const state = [stateLabel(view), reason === null ? null : inLine(reason), pid === null ? null : `pid ${pid} runs`]
  return [
    `# How to continue ${name}`,
    '',
    `At ${iso(now)}, when oneshot wrote this page, the session was: ${state.filter(part => part !== null).join('; ')}.`,
    '',
  ]
}

function first({ home, program }: Surroundings): string[] {
  const place = home === null ? [] : ['In every shell, first:', '', ...block(`export ONESHOT_HOME=${quote(home)}`)]
  const call = block(`oneshot() { ${program.map(quote).join(' ')} "$@"; }`)
  return [...place, 'If the shell does not find `oneshot`:', '', ...call]
}

function look({ view }: Material): string[] {
  const { name, id, phase } = view
  const watching = ['While it runs you can watch it, and leave with Ctrl-b d:', '', ...block(`oneshot attach ${name}`)]
  return [
    '## Look at it',
    '',
    ...block(`oneshot status ${name}`, `oneshot log ${name}`),
    ...(phase === 'ended' ? [] : watching),
    `If the name now belongs to another session, use the id of this one instead: ${id}.`,
    '',
  ]
}

function goOn({ session, view }: Material): string[] {
  const { name, task, outcome } = view
  if (view.agent === 'command') {
    const { cwd, mode, argv } = session.spec
    const again = `oneshot run --name ${task} --${mode} -- ${commandLine(argv)}`
    return [
      '## If it no longer runs',
      '',
      'oneshot does not start a command twice by itself. To start it again:',
      '',
      ...block(`cd ${quote(cwd)}`, again),
    ]
  }
  if (outcome === 'done' && isLoop(view)) {
    return [
      '## It is done',
      '',
      'The board shows its tasks and their evidence:',
      '',
      ...block(`oneshot ralph status ${name}`),
      ...toLand(session, name),
    ]
  }
  if (outcome === 'done') {
    return [
      '## It is done',
      '',
      'To give it more to do in the same conversation:',
      '',
      ...block(`oneshot send ${name} "and then this"`),
    ]
  }
  return [
    '## If it no longer runs',
    '',
    'This starts the supervisor, the work or both, whichever is missing, and says which:',
    '',
    ...block(`oneshot resume ${name}`),
    ...(isLoop(view) ? toLand(session, name) : []),
  ]
}

/** What a loop has merged in worktrees is had before all is done, too. */
function toLand({ spec }: Session, name: string): string[] {
  const { parallel = null } = JSON.parse(spec.argv.at(-1) ?? '{}') as Partial<LoopRequest>
  if (parallel === null) return []
  return ['To merge its finished tasks into your checkout:', '', ...block(`oneshot ralph land ${name}`)]
}

function byHand({ session, view }: Material, { byHand }: Surroundings): string[] {
  if (byHand === null) return []
  return [
    '## Without oneshot',
    '',
    `Only when none of its processes runs${view.pid === null ? '' : ` (it was pid ${view.pid})`}: two processes in one conversation damage it.`,
    '',
    ...block(`cd ${quote(session.spec.cwd)}`, commandLine(byHand)),
  ]
}

function files({ session }: Material, { files }: Surroundings): string[] {
  const attempt = `attempts/${session.attempt}/stdout and launch`
  const own = session.spec.proof === 'end-event' ? `prompt, messages, transcript, ${attempt}` : attempt
  return [
    '## Its messages and output, with nothing hidden',
    '',
    `Only you can read these files: ${own}. They are in`,
    '',
    ...block(`cd ${quote(files)}`),
  ]
}

function checkpoints({ session }: Material, { repository }: Surroundings): string[] {
  const { spec, saved } = session
  if (spec.saving.mode === 'off') return []
  const title = ['## Its files, from git', '']
  if (repository === null) return [...title, 'Its folder is not in a git repository: there are no checkpoints.', '']
  const ref = refOf(session)
  if (saved.last === null) return [...title, `There is no checkpoint yet. Checkpoints will be in ${ref}.`, '']
  const { number, at } = saved.last
  const cd = `cd ${quote(repository.top)}`
  return [
    ...title,
    `The newest checkpoint was number ${number}, of ${iso(at)}. To list all of them, and to check out the newest in a folder beside the repository:`,
    '',
    ...block(
      cd,
      `git log --oneline --first-parent ${ref}`,
      `git worktree add --detach ${quote(`../${spec.name}-${number}`)} ${ref}`,
    ),
    'To restore it here (this overwrites the present files):',
    '',
    ...block(cd, `git restore --source=${ref} --worktree -- .`),
  ]
}

function elsewhere({ session, view }: Material, { repository }: Surroundings): string[] {
  const { spec, saved } = session
  const title = ['## If this machine is lost', '']
  const { push } = spec.saving
  if (push === null || repository === null)
    return [...title, 'Then this session is lost too, because its checkpoints are not pushed anywhere.', '']
  const { pushed } = saved
  const until =
    pushed === null
      ? 'No checkpoint has arrived there yet.'
      : `Number ${pushed.number} arrived there ${iso(pushed.at)}.`
  const place = withoutLogin(repository.remote ?? push)
  const from = commandLine([place])
  const resume = `oneshot resume ${spec.name} --from ${from}`
  const restore = `oneshot restore ${spec.name} --from ${from} --here`
  const isResumed = view.agent !== 'command' && !isLoop(view) && view.outcome !== 'done'
  return [
    ...title,
    `Its checkpoints are pushed to ${inLine(place)}. ${until} In a fresh clone:`,
    '',
    ...block(isResumed ? resume : restore),
    ...(isResumed ? ['To restore only its files, over those of the clone:', '', ...block(restore)] : []),
    'Or without oneshot:',
    '',
    ...block(`git fetch ${from} 'refs/oneshot/*:refs/oneshot/*'`, `git switch -c ${spec.name} ${refOf(session)}`),
  ]
}

/** It always leads to the newest one, while the commits of older ones are written anew when some are thinned out. */
function refOf({ spec }: Material['session']): string {
  return `refs/oneshot/${spec.name}/${spec.id}`
}

/** A fence that nothing in it can close. */
function block(...lines: string[]): string[] {
  const text = lines.join('\n')
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return [`${fence}sh`, text, fence, '']
}
