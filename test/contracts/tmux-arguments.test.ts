import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runTmux } from '../../src/os/run-tmux.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-tmux-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const NASTY = ["'", '"', '\\', '$HOME', '~', '#', '%if', ';', '\n', ' ', '\t', '{', '}', '-', 'é', '`', 'a', '*']

it('tmux gets every argument unchanged, whatever is in it', async () => {
  const tmux = (...command: string[]): ReturnType<typeof runTmux> =>
    runTmux({ program: 'tmux', socket: path.join(folder, 'sock'), options: ['-f', '/dev/null'] }, command, {})
  await tmux('new-session', '-d', '-s', 'one', 'sleep', '600')
  try {
    const words = fc.sample(fc.string({ unit: fc.constantFrom(...NASTY), minLength: 1, maxLength: 12 }), 40)
    const kept = words.filter(word => word !== ';')
    const command = kept.flatMap((word, at) => ['set-environment', '-g', `W${at}`, `=${word}=`, ';'])
    const { stderr } = await tmux(...command.slice(0, -1))
    expect(stderr).toBe('')
    for (const [at, word] of kept.entries()) {
      const { stdout } = await tmux('show-environment', '-g', `W${at}`)
      expect(stdout).toBe(`W${at}==${word}=\n`)
    }
  } finally {
    await tmux('kill-server')
  }
})

it('a query to a tmux server that is gone does not start one', async () => {
  const { code, stderr } = await runTmux({ program: 'tmux', socket: path.join(folder, 'sock') }, ['list-sessions'], {})
  expect(code).toBe(1)
  expect(stderr).toMatch(/no server running|error connecting/)
})
