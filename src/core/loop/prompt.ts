import { flawsOf } from './failing.ts'
import type { Flaw, Loop, LoopTask, Role } from './loop.ts'

/** What a worker is told beside its task. */
export interface Context {
  /** The newest commits, newest first. */
  readonly log: readonly { readonly id: string; readonly subject: string }[]
  /** The whole list, where the worker cannot read it itself. */
  readonly list: string | null
}

/** What a fresh agent needs to work on one task, with nothing but the files and git to go by. */
export function promptFor(loop: Loop, task: LoopTask, role: Role, context: Context): string {
  const parts = [
    role === 'resolve' ? resolving(loop, task) : opening(loop, task),
    section(`The task: ${task.item.label}`, taskText(task)),
    role === 'resolve' ? '' : sharper(task),
    section(
      'Rules',
      rules(loop, role)
        .map(rule => `- ${rule}`)
        .join('\n'),
    ),
    section('What was tried before', role === 'resolve' ? '' : triesText(task)),
    section('Newest commits', context.log.map(({ id, subject }) => `${id.slice(0, 10)} ${subject}`).join('\n')),
    section('The whole list, to see where this belongs', context.list ?? ''),
  ]
  return `${parts.filter(part => part !== '').join('\n\n')}\n`
}

/** What an agent needs to make a list out of an idea. */
export function planPrompt(loop: Loop, idea: string): string {
  const list = loop.spec.list ?? 'PRD.md'
  const flaw = loop.plan.at(-2)?.flaw
  const parts = [
    `Plan: ${idea.trim().split('\n')[0] ?? ''}`,
    'You plan this piece of work and do not begin with it. Others, who know nothing but the files, will do it task by task.',
    section('The idea', idea),
    section(
      'What to do',
      [
        `Look at what is here already. Then write ${list}: what is to be made and how it is to behave, in a few paragraphs, and below the`,
        'heading "## Tasks" a checklist of the steps, one line each, like this:',
        '',
        '- [ ] The parser reads a file and reports mistakes with their line (with tests)',
        '',
        'Each task can be finished and proven by itself within an hour, leaves everything in working order, and says how one sees that it',
        'is done. The first one makes the project run with a first test. Put those that others build upon first. Where two tasks',
        'depend on each other in another way, say so at the end of the line: (after 3). Write no code yet, tick nothing, and commit the',
        'list.',
      ].join('\n'),
    ),
    section('What was wrong with the last plan', flaw?.reason ?? ''),
  ]
  return `${parts.filter(part => part !== '').join('\n\n')}\n`
}

function section(title: string, text: string): string {
  return text.trim() === '' ? '' : `# ${title}\n${text.trim()}`
}

/** Its first line is also what people recognise the session by. */
function opening({ spec }: Loop, { item }: LoopTask): string {
  const list = spec.list === null ? 'the project’s task tracker' : spec.list
  return `Task ${item.label} of ${list}: ${item.title}\n\nYou work on this one task. You have not seen this project before: what was done so far is in its files and in git.`
}

function resolving({ branch }: Loop, { clash, place, tries }: LoopTask): string {
  const flaw = tries.at(-2)?.flaw
  const where = clash.length === 0 ? '' : ` Both sides are in these files, with the usual marks: ${clash.join(', ')}.`
  return [
    `You bring two pieces of work together. ${place?.branch ?? 'One branch'} was made for the task below; meanwhile other tasks were merged into ${branch}.`,
    `Merging it was begun here.${where} Keep what both sides wanted, and finish the merge with a commit.`,
    flaw?.detail ? `\nWhat came of a merge without help:\n${flaw.detail}` : '',
  ].join('\n')
}

function taskText({ item }: LoopTask): string {
  const part = item.path.length === 0 ? '' : `Part of: ${item.path.join(' › ')}\n\n`
  return `${part}${item.title}${item.body === '' ? '' : `\n\n${item.body}`}`
}

function rules({ spec, branch }: Loop, role: Role): string[] {
  const boxes = spec.list === null ? 'Close no issue' : `Tick no box in ${spec.list}`
  return [
    ...(role === 'resolve'
      ? []
      : ['Do this task and no other. Look at the files and at git first: part of it may be there already.']),
    'Where it can be tested, write the test first, see it fail, then make it pass.',
    ...(spec.check === null
      ? []
      : [
          `\`${spec.check.line}\` must pass at the end: it will be run, and nothing counts while it fails. Do not remove, skip or rename tests, and do not change what this check runs or its settings: then the work does not count.`,
        ]),
    `Save your work: commit after each step that works, with a message that says what it does${branch === null ? ', on the branch that is checked out' : '; stay on this branch and in this folder'}.`,
    `${boxes}: that is done for you once the work was seen.`,
    'If it cannot be done, leave nothing half-finished behind, and end with a sentence that says why.',
  ]
}

/** Who reads and goes away again is told what is expected. */
function sharper(task: LoopTask): string {
  const idle = flawsOf(task).filter(({ flaw }) => flaw.kind === 'idle').length
  if (idle === 0) return ''
  const times = idle === 1 ? 'The agent before you' : `${idle} agents before you`
  return `${times} read the files and ended without changing anything. Reading is not enough: begin to change files now, and do not end before \`git status\` or \`git log\` shows your work. If you find that all of it is there already, add a test that proves it.`
}

const MOST_TRIES = 3

function triesText(task: LoopTask): string {
  return flawsOf(task)
    .slice(-MOST_TRIES)
    .map(({ iteration, flaw }) => `Iteration ${iteration}: ${flaw.reason}.${detailOf(flaw)}`)
    .join('\n')
}

function detailOf({ detail }: Flaw): string {
  return detail.trim() === ''
    ? ''
    : `\n${detail
        .trim()
        .split('\n')
        .map(line => `    ${line}`)
        .join('\n')}`
}
