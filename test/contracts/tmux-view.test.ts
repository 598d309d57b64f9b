import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Mode } from '../../src/core/session.ts'
import type { LaunchOrder } from '../../src/ports/work.ts'
import { terminalSocket } from '../../src/world/os/folders.ts'
import { openTmuxBench, type TmuxBench } from './tmux-bench.ts'
import { said } from './work-bench.ts'

let bench: TmuxBench
let viewer: Viewer | undefined

afterEach(async () => {
  viewer?.leave()
  viewer = undefined
  await bench.close()
})

/** Somebody at a terminal, which is itself a pane of another tmux. */
class Viewer {
  readonly #socket = path.join(bench.home.root, 'viewer.sock')

  constructor(session: string) {
    this.#tmux(
      'new-session',
      '-d',
      '-x',
      '150',
      '-y',
      '40',
      'env',
      '-u',
      'TMUX',
      'tmux',
      '-S',
      bench.home.tmuxSocket,
      'attach',
      '-t',
      `=${session}`,
    )
  }

  screen(): string {
    return this.#tmux('capture-pane', '-p')
  }

  type(text: string): void {
    this.#tmux('send-keys', '-l', text)
    this.#tmux('send-keys', 'Enter')
  }

  /** What programs have put into this terminal's clipboard. */
  clipboard(): string {
    return this.#tmux('list-buffers')
  }

  leave(): void {
    this.#tmux('kill-server')
  }

  #tmux(...args: string[]): string {
    return spawnSync('tmux', ['-S', this.#socket, '-f', '/dev/null', ...args], { encoding: 'utf8' }).stdout
  }
}

async function launched(script: string, show: LaunchOrder['show'] = 'output'): Promise<LaunchOrder> {
  const order = await bench.run(['/bin/sh', '-c', script], { show })
  await bench.work.launch(order)
  await bench.until('it has spoken', () => said(bench.work, order).includes('ready'))
  return order
}

describe.each<[Mode, string]>([
  ['headless', ''],
  ['tty', ''],
  ['headless', `it's "odd" #S %H $(x)`],
])('who attaches to a %s session in a home called %j', (mode, name) => {
  test('sees what it says, also after the tmux server was killed', async () => {
    bench = openTmuxBench(mode, name)
    const order = await launched('echo ready and waiting; exec sleep 1000')
    viewer = new Viewer(order.name)
    await bench.until('it is on the screen', () => viewer?.screen().includes('ready and waiting') ?? false)
    viewer.leave()
    spawnSync('tmux', ['-S', bench.home.tmuxSocket, 'kill-server'])
    await bench.until('the loss is noticed', () => bench.panes.hasLostServer())
    await bench.work.mend([order])
    viewer = new Viewer(order.name)
    await bench.until('it is on the screen again', () => viewer?.screen().includes('ready and waiting') ?? false)
    expect(bench.work.evidence(order).process).toBe('alive')
  })
})

test('who attaches to a session with a transcript sees that', async () => {
  bench = openTmuxBench('headless')
  const order = await launched('echo ready; exec sleep 1000', 'transcript')
  bench.work.write(order.sessionId, 0, 'I will work on it\n')
  viewer = new Viewer(order.name)
  await bench.until('it is on the screen', () => viewer?.screen().includes('I will work on it') ?? false)
})

test('who attaches to a terminal can answer its questions', async () => {
  bench = openTmuxBench('tty')
  const order = await launched('echo "ready? [y/n]"; read -r answer; echo "you said $answer"; exec sleep 1000')
  viewer = new Viewer(order.name)
  await bench.until('the question is on the screen', () => viewer?.screen().includes('ready?') ?? false)
  viewer.type('yes')
  await bench.until('it was heard', () => said(bench.work, order).includes('you said yes'))
})

test('a program on a terminal reaches the clipboard of none who attaches, not even past tmux', async () => {
  bench = openTmuxBench('tty')
  const copy = '\\033]52;c;cHduZWQ=\\007'
  const past = `\\033Ptmux;\\033${copy}\\033\\\\`
  const order = await launched(`echo ready; read -r go; printf '${copy}${past}${copy}'; echo copied; exec sleep 1000`)
  viewer = new Viewer(order.name)
  await bench.until('it is on the screen', () => viewer?.screen().includes('ready') ?? false)
  viewer.type('go')
  await bench.until('it has copied', () => viewer?.screen().includes('copied') ?? false)
  expect(viewer.clipboard()).toBe('')
  for (const socket of [bench.home.tmuxSocket, terminalSocket(bench.home, order.sessionId)]) {
    const shown = (...args: string[]): string =>
      spawnSync('tmux', ['-S', socket, 'show-options', ...args], { encoding: 'utf8' }).stdout.trim()
    expect([shown('-sv', 'set-clipboard'), shown('-gqv', 'allow-passthrough')]).not.toContain('on')
    expect(shown('-sv', 'set-clipboard')).toBe('off')
  }
})
