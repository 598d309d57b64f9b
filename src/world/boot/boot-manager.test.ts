import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createRunCommand } from './boot-manager.ts'

test('a program that is missing, or that PATH leads to and nobody may start, counts as not on PATH', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  fs.writeFileSync(path.join(folder, 'launchctl'), '', { mode: 0o600 })
  const runCommand = createRunCommand({ PATH: folder })
  for (const program of ['launchctl', 'crontab'])
    expect(await runCommand(program, [])).toMatchObject({ code: 127, stderr: `${program} is not on PATH` })
})
