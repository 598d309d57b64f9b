import type { Worktrees } from '../../src/ports/worktrees.ts'
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import type { GitFixture } from './git-fixture.ts'
import { put } from './git-fixture.ts'
import type { Refused } from './worktrees-program.ts'

/** The git call at which its caller is killed, and the progress of that call. */
export interface KillPoint {
  /** Number of the call, counted from 1. */
  readonly at: number
  readonly how: KillTiming
  /** Duration of a torn call, in steps of a shell loop: up to `LONGEST_GIT_CALL`. */
  readonly torn: number
}

export type KillTiming = 'before' | 'meanwhile' | 'after' | 'torn'
export const KILL_TIMINGS: readonly KillTiming[] = ['before', 'meanwhile', 'after', 'torn']
export const LONGEST_GIT_CALL = 6_000

export type MethodCall = readonly [name: keyof Worktrees, ...words: unknown[]]

/** Replaces git, records its calls and kills the caller of the fatal one; `torn` kills git itself during that call. */
const KILLING_GIT = `#!/bin/sh
read -r n <"$SHOP_COUNT"
n=$((n + 1))
echo $n >"$SHOP_COUNT"
echo "$*" >>"$SHOP_CALLS"
[ $n -eq $SHOP_FATAL ] || exec "$SHOP_GIT" "$@"
case $SHOP_HOW in
before) kill -9 $SHOP_PID; exit 1 ;;
meanwhile) kill -9 $SHOP_PID; exec "$SHOP_GIT" "$@" ;;
after) "$SHOP_GIT" "$@"; kill -9 $SHOP_PID ;;
torn) "$SHOP_GIT" "$@" <&0 & i=0; while [ $i -lt $SHOP_TORN ]; do i=$((i + 1)); done; kill -9 $! $SHOP_PID ;;
esac
`

/** Runs a method in a child process. Returns its result, or null if the process was killed. */
export async function runInProcess(
  fixture: GitFixture,
  program: string,
  call: MethodCall,
  death: KillPoint | null = null,
): Promise<Refused | object | string | null> {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = { ...process.env, ...fixture.env }
  const [name, ...words] = call
  const child = spawn(process.execPath, [program, name, JSON.stringify(words)], {
    env: death === null ? env : { ...env, ...killingEnvironment(fixture, death) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  await new Promise(resolve => child.on('close', resolve))
  return child.signalCode === null ? (JSON.parse(said) as object | string) : null
}

/** Returns all git calls of a method, each as its words; nothing is killed. */
export async function recordGitCalls(fixture: GitFixture, program: string, call: MethodCall): Promise<string[]> {
  await runInProcess(fixture, program, call, { at: -1, how: 'before', torn: 0 })
  const said = fs.readFileSync(path.join(fixture.root, 'calls'), 'utf8').split('\n')
  // The first call asks git for its version.
  return said.slice(1, -1).map(withoutOptions)
}

function withoutOptions(line: string): string {
  return line.replace(/^--no-pager /, '').replace(/^(-c \S+ )*/, '')
}

function killingEnvironment({ root, env }: GitFixture, { at, how, torn }: KillPoint): NodeJS.ProcessEnv {
  const folders = (env['PATH'] ?? '').split(':')
  const real = folders.map(folder => path.join(folder, 'git')).find(file => fs.existsSync(file))
  put(root, 'bin/git', KILLING_GIT, 0o755)
  put(root, 'count', '0\n')
  put(root, 'calls', '')
  return {
    PATH: `${path.join(root, 'bin')}:${env['PATH']}`,
    SHOP_GIT: real,
    SHOP_COUNT: path.join(root, 'count'),
    SHOP_CALLS: path.join(root, 'calls'),
    SHOP_FATAL: String(at + 1),
    SHOP_TORN: String(torn),
    SHOP_HOW: how,
  }
}
