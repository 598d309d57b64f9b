// Prepares a release. docs/release.md describes the whole process.
//   node scripts/release.mjs prepare X.Y.Z   writes the version into package.json, package-lock.json and CHANGELOG.md
//   node scripts/release.mjs notes           prints the changelog of the version in package.json
// @ts-check
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = process.env.RELEASE_ROOT ?? path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const [action, version = ''] = process.argv.slice(2)

if (action === 'prepare') prepare(version)
else if (action === 'notes') process.stdout.write(`${sectionOf(readVersion())}\n`)
else fail('usage: node scripts/release.mjs prepare X.Y.Z | notes')

/** @param {string} next */
function prepare(next) {
  if (!/^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/.test(next)) fail(`'${next}' is not a version such as 1.2.3`)
  if (git('status', '--porcelain') !== '') fail('the working tree has changes; commit or stash them first')
  if (git('tag', '--list', `v${next}`) !== '') fail(`the tag v${next} exists already`)
  const changelog = read('CHANGELOG.md')
  const heading = '## Unreleased\n'
  if (!changelog.includes(heading)) fail('CHANGELOG.md has no section "Unreleased"')
  if (sectionOf('Unreleased') === '') fail('CHANGELOG.md lists no change under "Unreleased"')
  const today = new Date().toISOString().slice(0, 10)
  write('CHANGELOG.md', changelog.replace(heading, `${heading}\n## ${next} (${today})\n`))
  for (const file of ['package.json', 'package-lock.json']) {
    const content = JSON.parse(read(file))
    content.version = next
    if (content.packages?.[''] !== undefined) content.packages[''].version = next
    write(file, `${JSON.stringify(content, null, 2)}\n`)
  }
  console.log(`Version ${next} is prepared. Read the diff, then run:`)
  console.log('  bash .ci/run')
  console.log(`  git commit -am "release: ${next}" && git tag -a v${next} -m "oneshot ${next}"`)
  console.log('  git push --follow-tags')
}

/**
 * Returns the lines below the heading of a version, without blank lines at both ends.
 * @param {string} name
 */
function sectionOf(name) {
  const lines = read('CHANGELOG.md').split('\n')
  const start = lines.findIndex(line => line === `## ${name}` || line.startsWith(`## ${name} `))
  if (start === -1) fail(`CHANGELOG.md has no section "${name}"`)
  const length = lines.slice(start + 1).findIndex(line => line.startsWith('## '))
  const body = length === -1 ? lines.slice(start + 1) : lines.slice(start + 1, start + 1 + length)
  return body.join('\n').trim()
}

function readVersion() {
  return JSON.parse(read('package.json')).version
}

/** @param {string[]} words */
function git(...words) {
  return execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim()
}

/** @param {string} file */
function read(file) {
  return fs.readFileSync(path.join(root, file), 'utf8')
}

/**
 * @param {string} file
 * @param {string} text
 */
function write(file, text) {
  fs.writeFileSync(path.join(root, file), text)
}

/**
 * @param {string} sentence
 * @returns {never}
 */
function fail(sentence) {
  console.error(`release: ${sentence}`)
  process.exit(2)
}
