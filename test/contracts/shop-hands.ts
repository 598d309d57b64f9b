import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import * as fc from 'fast-check'
import type { GitBench } from './git-bench.ts'
import { put } from './git-bench.ts'
import type { Refused } from './shop-hand.ts'

/** At which call of git the one who makes it dies, and how far that call gets. */
export interface Death {
  /** The how manieth, or the first with this word in it. */
  readonly at: number | string
  readonly how: 'before' | 'meanwhile' | 'after' | 'torn'
}

export const anyDeath: fc.Arbitrary<Death> = fc.record({
  at: fc.integer({ min: 1, max: 24 }),
  how: fc.constantFrom('before', 'meanwhile', 'after', 'torn'),
})

/** Stands for git, counts its calls and kills whoever makes the fatal one; `torn` ends git itself in the midst of it. */
const GIT = `#!/bin/sh
n=$(($(cat "$SHOP_COUNT") + 1))
echo $n >"$SHOP_COUNT"
case "$n $*" in
"$SHOP_FATAL "* | *" $SHOP_FATAL "*) ;;
*) exec "$SHOP_GIT" "$@" ;;
esac
case $SHOP_HOW in
before) kill -9 $SHOP_PID; exit 1 ;;
meanwhile) kill -9 $SHOP_PID; exec "$SHOP_GIT" "$@" ;;
after) "$SHOP_GIT" "$@"; kill -9 $SHOP_PID ;;
torn) "$SHOP_GIT" "$@" <&0 & i=0; while [ $i -lt $SHOP_TORN ]; do i=$((i + 1)); done; kill -9 $! $SHOP_PID ;;
esac
`

/** What a hand says, or null when it died. */
export async function byHand(
  bench: GitBench,
  program: string,
  deed: readonly [name: string, ...words: unknown[]],
  death: Death | null = null,
): Promise<Refused | object | string | null> {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = { ...process.env, ...bench.env }
  const [name, ...words] = deed
  const child = spawn(process.execPath, [program, name, JSON.stringify(words)], {
    env: death === null ? env : { ...env, ...fatal(bench, death) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  await new Promise(resolve => child.on('exit', resolve))
  return child.signalCode === null ? (JSON.parse(said) as object | string) : null
}

function fatal({ root, env }: GitBench, { at, how }: Death): NodeJS.ProcessEnv {
  const folders = (env['PATH'] ?? '').split(':')
  const real = folders.map(folder => path.join(folder, 'git')).find(file => fs.existsSync(file))
  put(root, 'bin/git', GIT, 0o755)
  put(root, 'count', '0')
  return {
    PATH: `${path.join(root, 'bin')}:${env['PATH']}`,
    SHOP_GIT: real,
    SHOP_COUNT: path.join(root, 'count'),
    SHOP_FATAL: String(typeof at === 'number' ? at + 1 : at),
    SHOP_TORN: String(Math.floor(Math.random() * 6_000)),
    SHOP_HOW: how,
  }
}
