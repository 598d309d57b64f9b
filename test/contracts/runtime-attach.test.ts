import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Mode } from '../../src/core/session/session-state.ts'
import type { LaunchSpec } from '../../src/ports/runtime.ts'
import { terminalSocket } from '../../src/state/session-folder.ts'
import { openTmuxFixture, type TmuxFixture } from './tmux-fixture.ts'
import { outputOf } from './runtime-fixture.ts'

let fixture: TmuxFixture
let viewer: Viewer | undefined

afterEach(async () => {
  viewer?.leave()
  viewer = undefined
  await fixture.close()
})

/** Somebody at a terminal, which is itself a pane of another tmux. */
class Viewer {
  readonly #socket = path.join(fixture.home.root, 'viewer.sock')

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
      fixture.home.tmuxSocket,
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

  /** Returns the text that programs have put into this terminal's clipboard. */
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

async function launched(script: string, show: LaunchSpec['show'] = 'output'): Promise<LaunchSpec> {
  const spec = await fixture.run(['/bin/sh', '-c', script], { show })
  await fixture.work.launch(spec)
  await fixture.until('it has spoken', () => outputOf(fixture.work, spec).includes('ready'))
  return spec
}

describe.each<[Mode, string]>([
  ['headless', ''],
  ['tty', ''],
  ['headless', `it's "odd" #S %H $(x)`],
])('a user who attaches to a %s session in a home called %j', (mode, name) => {
  test('sees its output, even after somebody killed the tmux server', async () => {
    fixture = openTmuxFixture(mode, name)
    const spec = await launched('echo ready and waiting; exec sleep 1000')
    viewer = new Viewer(spec.name)
    await fixture.until('it is on the screen', () => viewer?.screen().includes('ready and waiting') ?? false)
    viewer.leave()
    spawnSync('tmux', ['-S', fixture.home.tmuxSocket, 'kill-server'])
    await fixture.until('the loss is noticed', () => fixture.panes.hasLostServer())
    await fixture.work.repair([spec])
    viewer = new Viewer(spec.name)
    await fixture.until('it is on the screen again', () => viewer?.screen().includes('ready and waiting') ?? false)
    expect(fixture.work.attemptState(spec).process).toBe('alive')
  })
})

test('a user who attaches to a session with a transcript sees the transcript', async () => {
  fixture = openTmuxFixture('headless')
  const spec = await launched('echo ready; exec sleep 1000', 'transcript')
  fixture.work.writeTranscript(spec.sessionId, 0, 'I will work on it\n')
  viewer = new Viewer(spec.name)
  await fixture.until('it is on the screen', () => viewer?.screen().includes('I will work on it') ?? false)
})

test('a user who attaches to a terminal can answer its questions', async () => {
  fixture = openTmuxFixture('tty')
  const spec = await launched('echo "ready? [y/n]"; read -r answer; echo "you said $answer"; exec sleep 1000')
  viewer = new Viewer(spec.name)
  await fixture.until('the question is on the screen', () => viewer?.screen().includes('ready?') ?? false)
  viewer.type('yes')
  await fixture.until('it was heard', () => outputOf(fixture.work, spec).includes('you said yes'))
})

test('a program on a terminal cannot write to the clipboard of an attached user, not even past tmux', async () => {
  fixture = openTmuxFixture('tty')
  const copy = '\\033]52;c;cHduZWQ=\\007'
  const past = `\\033Ptmux;\\033${copy}\\033\\\\`
  const spec = await launched(`echo ready; read -r go; printf '${copy}${past}${copy}'; echo copied; exec sleep 1000`)
  viewer = new Viewer(spec.name)
  await fixture.until('it is on the screen', () => viewer?.screen().includes('ready') ?? false)
  viewer.type('go')
  await fixture.until('it has copied', () => viewer?.screen().includes('copied') ?? false)
  expect(viewer.clipboard()).toBe('')
  for (const socket of [fixture.home.tmuxSocket, terminalSocket(fixture.home, spec.sessionId)]) {
    const shown = (...args: string[]): string =>
      spawnSync('tmux', ['-S', socket, 'show-options', ...args], { encoding: 'utf8' }).stdout.trim()
    expect([shown('-sv', 'set-clipboard'), shown('-gqv', 'allow-passthrough')]).not.toContain('on')
    expect(shown('-sv', 'set-clipboard')).toBe('off')
  }
})
