import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { TestHome, MAIN } from './test-home.ts'

const dist = path.dirname(MAIN)

function caches(): Record<string, number> {
  const names = fs.readdirSync(dist).filter(name => name.endsWith('.cache'))
  return Object.fromEntries(names.map(name => [name, fs.statSync(path.join(dist, name)).mtimeMs]))
}

test('the build makes a code cache for commands and one for the supervisor, and neither replaces the other', async () => {
  const built = caches()
  expect(Object.keys(built).filter(name => name.startsWith('program.'))).not.toHaveLength(0)
  expect(Object.keys(built).filter(name => name.startsWith('daemon.'))).not.toHaveLength(0)
  const testHome = new TestHome()
  try {
    await testHome.ok('run', '--name', 'first', '--', 'true')
    await testHome.ok('wait', 'first')
    await testHome.ok('daemon', 'stop')
    const interrupted = spawn(process.execPath, [MAIN, 'list'], { env: testHome.env, stdio: 'ignore' })
    const closed = once(interrupted, 'close')
    interrupted.kill('SIGINT')
    await closed
    const after = caches()
    for (const [name, time] of Object.entries(built)) expect(after[name], name).toBe(time)
  } finally {
    await testHome.close()
  }
})

test('commands that only read load neither node:crypto nor node:http, which would double the time of their start', async () => {
  const testHome = new TestHome()
  try {
    await testHome.ok('run', '--name', 'first', '--', 'true')
    await testHome.ok('wait', 'first')
    const probe = path.join(testHome.root, 'probe.cjs')
    const loaded = path.join(testHome.root, 'loaded')
    fs.writeFileSync(
      probe,
      `process.on('exit', () => require('fs').writeFileSync(${JSON.stringify(loaded)}, process.moduleLoadList.join('\\n')))`,
    )
    const env = { ...testHome.env, NODE_OPTIONS: `--require ${probe}` }
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
    await testHome.close()
  }
})
