import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const SCRIPT = path.resolve('scripts/release.mjs')
const CHANGELOG = '# Changelog\n\n## Unreleased\n\n- A fix.\n\n## 0.1.0 (2026-01-01)\n\n- The first release.\n'

describe('the release script', () => {
  let folder: string

  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'release-'))
    write('package.json', '{ "name": "x", "version": "0.1.0" }')
    write('package-lock.json', '{ "version": "0.1.0", "packages": { "": { "version": "0.1.0" } } }')
    write('CHANGELOG.md', CHANGELOG)
    git('init', '-q')
    git('add', '.')
    git('-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '-qm', 'first')
  })

  afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

  it('writes the version into three files and adds an empty changelog section', () => {
    expect(release('prepare', '0.2.0').status).toBe(0)
    expect(JSON.parse(read('package.json'))).toEqual({ name: 'x', version: '0.2.0' })
    expect(JSON.parse(read('package-lock.json'))).toEqual({ version: '0.2.0', packages: { '': { version: '0.2.0' } } })
    expect(read('CHANGELOG.md')).toMatch(
      /^# Changelog\n\n## Unreleased\n\n## 0\.2\.0 \(\d{4}-\d\d-\d\d\)\n\n- A fix\.\n/,
    )
    expect(release('notes').stdout).toBe('- A fix.\n')
  })

  it.each([
    ['a word that is no version', () => undefined, 'newest', "'newest' is not a version"],
    ['changes that are not committed', () => write('x', ''), '0.2.0', 'the working tree has changes'],
    ['a tag that exists', () => git('tag', 'v0.2.0'), '0.2.0', 'the tag v0.2.0 exists already'],
  ])('refuses %s and changes nothing', (_what, prepare, version, sentence) => {
    prepare()
    const { status, stderr } = release('prepare', version)
    expect(status).toBe(2)
    expect(stderr).toContain(sentence)
    expect(read('CHANGELOG.md')).toBe(CHANGELOG)
  })

  function release(...words: readonly string[]): { status: number | null; stdout: string; stderr: string } {
    return spawnSync(process.execPath, [SCRIPT, ...words], {
      encoding: 'utf8',
      env: { ...process.env, RELEASE_ROOT: folder },
    })
  }

  function git(...words: readonly string[]): void {
    execFileSync('git', words, { cwd: folder, stdio: 'ignore' })
  }

  function write(name: string, text: string): void {
    fs.writeFileSync(path.join(folder, name), text)
  }

  function read(name: string): string {
    return fs.readFileSync(path.join(folder, name), 'utf8')
  }
})
