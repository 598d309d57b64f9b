import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { House, MAIN } from './house.ts'

const dist = path.dirname(MAIN)

function caches(): Record<string, number> {
  const names = fs.readdirSync(dist).filter(name => name.endsWith('.cache'))
  return Object.fromEntries(names.map(name => [name, fs.statSync(path.join(dist, name)).mtimeMs]))
}

test('the build makes a code cache for commands and one for the supervisor, and neither replaces the other', async () => {
  const built = caches()
  expect(Object.keys(built).filter(name => name.startsWith('program.'))).not.toHaveLength(0)
  expect(Object.keys(built).filter(name => name.startsWith('daemon.'))).not.toHaveLength(0)
  const house = new House()
  try {
    await house.ok('run', '--name', 'first', '--', 'true')
    await house.ok('wait', 'first')
    await house.ok('daemon', 'stop')
    const interrupted = spawn(process.execPath, [MAIN, 'list'], { env: house.env, stdio: 'ignore' })
    const closed = once(interrupted, 'close')
    interrupted.kill('SIGINT')
    await closed
    const after = caches()
    for (const [name, time] of Object.entries(built)) expect(after[name], name).toBe(time)
  } finally {
    await house.close()
  }
})

test('commands that only read load neither node:crypto nor node:http, which would double the time of their start', async () => {
  const house = new House()
  try {
    await house.ok('run', '--name', 'first', '--', 'true')
    await house.ok('wait', 'first')
    const probe = path.join(house.root, 'probe.cjs')
    const loaded = path.join(house.root, 'loaded')
    fs.writeFileSync(
      probe,
      `process.on('exit', () => require('fs').writeFileSync(${JSON.stringify(loaded)}, process.moduleLoadList.join('\\n')))`,
    )
    const env = { ...house.env, NODE_OPTIONS: `--require ${probe}` }
    for (const words of [['list'], ['status', 'first'], ['log', 'first']]) {
      const child = spawn(process.execPath, [MAIN, ...words], { env, stdio: 'ignore' })
      await once(child, 'close')
      const modules = fs.readFileSync(loaded, 'utf8').split('\n')
      const heavy = ['crypto', 'http', 'https', 'net', 'zlib'].map(name => `NativeModule ${name}`)
      expect(
        heavy.filter(name => modules.includes(name)),
        words.join(' '),
      ).toEqual([])
    }
  } finally {
    await house.close()
  }
})
