import { expect, test } from 'vitest'
import { makePageData, makeSession, at } from '../../../testkit/views/page-data.ts'
import { renderRecovery } from './recovery-page.ts'

const CONTEXT = {
  program: ['/usr/bin/node', '/opt/one shot/main.cjs'],
  home: null,
  files: '/home/dev/.local/state/oneshot/sessions/k3v9x2m4qa',
  byHand: ['/usr/bin/claude', '--resume', '5f2c'],
  repository: { top: "/home/dev/it's", remote: 'https://example.com/it.git' },
}

test('a reader with only this file can inspect the session, continue it, and work without oneshot', () => {
  const session = makeSession(
    {
      phase: { name: 'ended', at: at(77), outcome: 'stopped', reason: 'stopped by you', trouble: 'stopped' },
      saved: {
        last: { number: 7, commit: 'c0ffee', at: at(41), trigger: 'edit' },
        trouble: null,
        wanted: null,
        pushed: { number: 6, at: at(40) },
        pushTrouble: null,
      },
    },
    { supervision: { saving: { mode: 'ref', interval: 1, push: 'origin' } }, cwd: "/home/dev/it's/sub" },
  )
  expect(renderRecovery(makePageData(session), CONTEXT)).toBe(`# How to continue claude-fix-auth

At 2026-11-15T11:00:00.000Z, when oneshot wrote this page, the session was: ■ stopped; stopped by you.

If the shell does not find \`oneshot\`:

\`\`\`sh
oneshot() { '/usr/bin/node' '/opt/one shot/main.cjs' "$@"; }
\`\`\`

## Look at it

\`\`\`sh
oneshot status claude-fix-auth
oneshot log claude-fix-auth
\`\`\`

If the name now belongs to another session, use the id of this one instead: k3v9x2m4qa.

## If it no longer runs

This starts the supervisor, the work or both, whichever is missing, and says which:

\`\`\`sh
oneshot resume claude-fix-auth
\`\`\`

## Without oneshot

Only when none of its processes runs: two processes in one conversation damage it.

\`\`\`sh
cd '/home/dev/it'\\''s/sub'
/usr/bin/claude --resume 5f2c
\`\`\`

## Its messages and output, with nothing hidden

Only you can read these files: prompt, messages, transcript, attempts/1/stdout and launch. They are in

\`\`\`sh
cd '/home/dev/.local/state/oneshot/sessions/k3v9x2m4qa'
\`\`\`

## Its files, from git

The newest checkpoint was number 7, of 2026-11-15T10:00:41.000Z. To list all of them, and to check out the newest in a folder beside the repository:

\`\`\`sh
cd '/home/dev/it'\\''s'
git log --oneline --first-parent refs/oneshot/claude-fix-auth/k3v9x2m4qa
git worktree add --detach '../claude-fix-auth-7' refs/oneshot/claude-fix-auth/k3v9x2m4qa
\`\`\`

To restore it here (this overwrites the present files):

\`\`\`sh
cd '/home/dev/it'\\''s'
git restore --source=refs/oneshot/claude-fix-auth/k3v9x2m4qa --worktree -- .
\`\`\`

## If this machine is lost

Its checkpoints are pushed to https://example.com/it.git. Number 6 arrived there 2026-11-15T10:00:40.000Z. In a fresh clone:

\`\`\`sh
oneshot resume claude-fix-auth --from https://example.com/it.git
\`\`\`

To restore only its files, over those of the clone:

\`\`\`sh
oneshot restore claude-fix-auth --from https://example.com/it.git --here
\`\`\`

Or without oneshot:

\`\`\`sh
git fetch https://example.com/it.git 'refs/oneshot/*:refs/oneshot/*'
git switch -c claude-fix-auth refs/oneshot/claude-fix-auth/k3v9x2m4qa
\`\`\`
`)
})

test('the page restarts a command by its own line, in its own folder, with any state folder', () => {
  const session = makeSession(
    { phase: { name: 'running', since: at(1) } },
    {
      agent: 'command',
      name: 'command-test',
      task: 'test',
      proof: 'exit-code',
      mode: 'tty',
      cwd: '/tmp/a\n```\nb',
      argv: ['/bin/sh', '-c', 'echo "$HOME"'],
      supervision: { saving: { mode: 'off', interval: 1, push: null } },
    },
  )
  const page = renderRecovery(makePageData(session), { ...CONTEXT, home: '/srv/my state', byHand: null })
  expect(page).toContain("In every shell, first:\n\n```sh\nexport ONESHOT_HOME='/srv/my state'\n```\n")
  expect(page).toContain('```sh\noneshot attach command-test\n```\n')
  expect(page).toContain(
    "````sh\ncd '/tmp/a\n```\nb'\noneshot run --name test --tty -- /bin/sh -c 'echo \"$HOME\"'\n````\n",
  )
  expect(page).toContain('Only you can read these files: attempts/1/stdout and launch. They are in\n')
  expect(page).toContain('its checkpoints are not pushed anywhere.\n')
  for (const other of ['oneshot resume', 'Without oneshot', 'git ']) expect(page).not.toContain(other)
})

test('the page gives a finished session more work, and does not resume it', () => {
  const phase = { name: 'ended', at: at(77), outcome: 'done', reason: 'exit code 0', trouble: null } as const
  const page = renderRecovery(makePageData(makeSession({ phase })), CONTEXT)
  expect(page).toContain('oneshot send claude-fix-auth "and then this"')
  expect(page).not.toContain('oneshot resume')
  expect(page).not.toContain('oneshot attach')
})

test('the page lands the merged work of a loop with worktrees, finished or not', () => {
  const loop = (parallel: number | null): string => {
    const argv = ['node', 'loop', JSON.stringify({ parallel })]
    const phase = { name: 'ended', at: at(77), outcome: 'failed', reason: '1 of 2 tasks done', trouble: null } as const
    return renderRecovery(makePageData(makeSession({ phase }, { agent: 'ralph', name: 'ralph-prd', argv })), CONTEXT)
  }
  expect(loop(2)).toContain('oneshot resume ralph-prd')
  expect(loop(2)).toContain('oneshot ralph land ralph-prd')
  expect(loop(null)).not.toContain('land')
})

test('the page promises nothing outside git', () => {
  const session = makeSession({}, { supervision: { saving: { mode: 'ref', interval: 1, push: 'origin' } } })
  const page = renderRecovery(makePageData(session), { ...CONTEXT, repository: null })
  expect(page).toContain('Its folder is not in a git repository: there are no checkpoints.')
  expect(page).not.toMatch(/refs\/oneshot|origin/)
})
