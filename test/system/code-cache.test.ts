import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { TestHome, MAIN } from './test-home.ts'

const dist = path.dirname(MAIN)

function caches(folder: string): Record<string, string> {
  const names = fs.readdirSync(folder).filter(name => name.endsWith('.cache'))
  return Object.fromEntries(names.map(name => [name, fs.readFileSync(path.join(folder, name), 'base64')]))
}

/** Copies the built package, so that no other test changes its caches. Returns the path of its main.cjs. */
function install(testHome: TestHome, { withCaches }: { withCaches: boolean }): string {
  const folder = path.join(testHome.root, 'package')
  fs.cpSync(dist, path.join(folder, 'dist'), {
    recursive: true,
    filter: file => withCaches || !file.endsWith('.cache'),
  })
  fs.symlinkSync(path.resolve(dist, '../node_modules'), path.join(folder, 'node_modules'))
  return path.join(folder, 'dist', 'main.cjs')
}

/** Returns the exit code of a program. */
async function run(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const [code] = (await once(spawn(process.execPath, argv, { env, stdio: 'ignore' }), 'close')) as [number]
  return code
}

test('the build makes the code caches of common commands and of the supervisor, and their use replaces none', async () => {
  const testHome = new TestHome()
  try {
    const main = install(testHome, { withCaches: true })
    const built = caches(path.dirname(main))
    const bundles = Object.keys(built).map(name => name.split('.')[0])
    expect(bundles).toEqual(expect.arrayContaining(['program', 'reader', 'run', 'daemon']))
    const { env } = testHome
    for (const command of ['run --name first -- true', 'wait first', 'daemon stop'])
      expect(await run([main, ...command.split(' ')], env), command).toBe(0)
    const interrupted = spawn(process.execPath, [main, 'follow'], { env, stdio: 'ignore' })
    const closed = once(interrupted, 'close')
    interrupted.kill('SIGINT')
    await closed
    expect(await run([main, 'follow', 'nobody'], env)).not.toBe(0)
    expect(await run([main, 'list'], { ...env, NODE_OPTIONS: '--stack-trace-limit=5' })).toBe(0)
    expect(await run(['--stack-trace-limit=5', main, 'list'], env)).toBe(0)
    expect(caches(path.dirname(main))).toEqual(built)
  } finally {
    await testHome.close()
  }
})

test('without a code cache, each command adds its functions to the cache once, and the cache only grows', async () => {
  const testHome = new TestHome()
  try {
    const main = install(testHome, { withCaches: false })
    const sizes: number[] = []
    for (const words of [['list'], ['status', '--help'], ['list', '--json']]) {
      expect(await run([main, ...words], testHome.env), words.join(' ')).toBe(0)
      sizes.push(...Object.values(caches(path.dirname(main))).map(bytes => bytes.length))
    }
    const [first = 0, second = 0] = sizes
    expect(second).toBeGreaterThan(first)
    expect(sizes).toEqual([first, second, second])
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

test.each(['constructor', '__proto__', 'toString'])('%s is an unknown command', async word => {
  const testHome = new TestHome()
  try {
    expect(await run([MAIN, word], testHome.env)).toBe(2)
  } finally {
    await testHome.close()
  }
})
