// Records a state folder of the built version for test/history: node scripts/record-history.mjs. Run it before a release
// whose stored records differ from those of the release before.
//
// The folder has sessions in every phase and a loop at work; then a power cut ends all their processes. The recording
// names the machine's own paths and the boot by placeholders.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { root } from './steps.mjs'

const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
const main = path.join(root, 'dist', 'main.cjs')
const base = fs.mkdtempSync(path.join(os.tmpdir(), 'oneshot-history-'))
const home = path.join(base, 'home')
const project = path.join(base, 'project')
const notes = path.join(base, 'notes')
const bin = path.join(base, 'bin')
const env = {
  HOME: base,
  ONESHOT_HOME: home,
  PATH: `${bin}:${process.env.PATH}`,
  LANG: 'C.UTF-8',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GATE: path.join(base, 'gate'),
}

/** An agent that does its task, after the gate is open if the task says so. Its first run of a `limited` task fails. */
const CODEX = String.raw`#!/bin/sh
prompt=$(cat)
title=$(printf '%s\n' "$prompt" | grep -o '\[[a-z]* [a-z.]*\]' | head -1 | tr -d '[]')
file=\${title#* }
case $title in
slow*) until [ -e "$GATE" ]; do sleep 0.02; done ;;
limited*) [ -e "$GATE.$file" ] || {
    : > "$GATE.$file"
    echo '{"type":"turn.started"}'
    echo '{"type":"turn.failed","error":{"message":"You’ve hit your usage limit. Try again in 10 seconds."}}'
    exit 1
  } ;;
esac
echo "$file" >> "$file"
[ ! -d .git ] || { git add "$file"; git commit -qm "make $file" -- "$file"; }
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"I did it."}}'
echo '{"type":"turn.completed","usage":{}}'
`

try {
  prepareProject()
  await startSessions()
  await cutPower()
  const listed = JSON.parse(oneshot('list', '--json'))
  const file = path.join(root, 'test', 'history', `home-${version}.json`)
  const recording = {
    version,
    recordedAt: Date.now(),
    listed,
    database: recordDatabase(),
    folders: recordFolders(),
    files: recordFiles(),
  }
  fs.writeFileSync(file, `${withPlaceholders(JSON.stringify(recording, null, 1))}\n`)
  console.log(`recorded ${listed.length} sessions in ${path.relative(root, file)}`)
} finally {
  await cutPower()
  fs.rmSync(base, { recursive: true, force: true })
}

function prepareProject() {
  for (const folder of [project, notes, bin]) fs.mkdirSync(folder)
  fs.writeFileSync(path.join(bin, 'codex'), CODEX.replaceAll('\\$', '$'), { mode: 0o755 })
  const tasks = ['[good one.txt]', '[slow two.txt]', '[good three.txt]'].map(title => `- [ ] make it ${title}\n`)
  fs.writeFileSync(path.join(project, 'PRD.md'), tasks.join(''))
  fs.writeFileSync(path.join(project, 'Makefile'), 'test:\n\t@true\n')
  git('init', '-q', '--template=', '-b', 'main', '.')
  git('config', 'user.name', 'n')
  git('config', 'user.email', 'e@x')
  git('add', '.')
  git('commit', '-qm', 'first')
}

/** Starts a session for each phase, and returns when each is in its phase. */
async function startSessions() {
  // The recording is older than any time limit when a test uses it.
  const timeless = ['-c', 'resume-within=none', '-c', 'max-time=none']
  oneshot('ralph', '--agent', 'codex', '--name', 'list', ...timeless)
  await isTrue('the first task is done', () => fs.existsSync(path.join(project, 'one.txt')))
  const run = (name, ...args) =>
    oneshot('run', '--name', name, '--cwd', notes, '--checkpoints', 'off', ...timeless, ...args)
  const command = (name, script, ...args) => run(name, '--headless', ...args, '--', 'sh', '-c', script)
  const demo = (name, prompt) => run(name, '--agent', 'demo', prompt)
  demo('finished', 'work steps=1 delay=1ms')
  demo('failed', 'work steps=1 delay=1ms fail=yes')
  command('given-up', 'exit 3', '--max-restarts', '1', '--restart', 'on-failure', '-c', 'restart-delay=1ms')
  command('stopped', 'exec sleep 1000')
  demo('held', 'work steps=9 delay=300ms write=held.txt')
  command('command', 'exec sleep 1000')
  command('verifying', 'true', '--verify', 'until [ -e "$GATE" ]; do sleep 0.02; done')
  await isTrue('it works', () => fs.existsSync(path.join(notes, 'held.txt')))
  oneshot('hold', 'held')
  await is('held', 'blocked')
  for (const name of ['finished', 'failed', 'given-up']) await is(name, 'ended')
  oneshot('stop', 'stopped')
  await is('stopped', 'ended')
  await is('verifying', 'stopping')
  run('resting', '--agent', 'codex', 'make it [limited r.txt]')
  await is('resting', 'resting')
  demo('running', 'work steps=6 delay=1s write=running.txt')
  await isTrue('it works', () => fs.existsSync(path.join(notes, 'running.txt')))
  oneshot('send', 'running', 'work steps=2 delay=1ms write=message.txt')
  command('stopping', "trap '' INT; until [ -e gone ]; do sleep 0.1; done")
  demo('asking', 'work steps=2 delay=1ms ask="May I?" patience=3s write=asking.txt')
  await is('asking', 'blocked')
  oneshot('stop', '--no-wait', 'stopping')
  await is('stopping', 'stopping')
  for (const name of ['ralph-list', 'codex-list-2-2', 'running']) await is(name, 'running')
}

async function is(name, phase) {
  await isTrue(`${name} is ${phase}`, () => JSON.parse(oneshot('status', '--json', name)).phase === phase)
}

async function isTrue(what, ask) {
  for (const end = Date.now() + 30_000; !ask(); await pause(20))
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`)
}

/** Kills every process of this home, as often as one is left. */
async function cutPower() {
  for (;;) {
    const left = processes()
    if (left.length === 0) return
    for (const pid of left) spawnSync('kill', ['-9', String(pid)])
    await pause(20)
  }
}

function processes() {
  return fs
    .readdirSync('/proc')
    .map(Number)
    .filter(pid => Number.isInteger(pid) && pid !== process.pid)
    .filter(pid => {
      try {
        const words =
          fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1') + fs.readFileSync(`/proc/${pid}/environ`, 'latin1')
        return words.includes(base)
      } catch {
        return false // The process has ended meanwhile.
      }
    })
}

function recordDatabase() {
  const database = new DatabaseSync(path.join(home, 'oneshot.db'))
  const { user_version: userVersion } = database.prepare('PRAGMA user_version').get()
  const schema = database
    .prepare('SELECT sql FROM sqlite_master WHERE sql IS NOT NULL')
    .all()
    .map(({ sql }) => sql)
  const names = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all()
    .map(({ name }) => name)
  const tables = Object.fromEntries(names.map(name => [name, database.prepare(`SELECT * FROM ${name}`).all()]))
  database.close()
  return { userVersion, schema: schema.filter(sql => !sql.includes('sqlite_sequence')), tables }
}

/** Leaves out sockets, locks, programs, the database itself, and the files that a supervisor writes again. */
function isRecorded(name) {
  const isLeftOut =
    /^home\/(oneshot\.db|lock\.db|bin|captions|daemon\.log|reserve|.*\.sock$|keeper\.)|^(project|notes)\/\.agent/
  return !isLeftOut.test(name)
}

function recordFolders() {
  return entries().flatMap(({ entry, name }) => (entry.isDirectory() ? [name] : []))
}

function recordFiles() {
  return entries().flatMap(({ entry, name }) => {
    if (!entry.isFile()) return []
    const bytes = fs.readFileSync(path.join(base, name))
    const { mode, mtimeMs } = fs.statSync(path.join(base, name))
    const text = bytes.toString()
    const isText = Buffer.from(text).equals(bytes) && !text.includes('\0')
    const content = isText ? { text } : { base64: bytes.toString('base64') }
    return [{ name, mode: mode & 0o777, modifiedAt: Math.floor(mtimeMs), ...content }]
  })
}

function entries() {
  return fs
    .readdirSync(base, { recursive: true, withFileTypes: true })
    .map(entry => ({ entry, name: path.relative(base, path.join(entry.parentPath, entry.name)) }))
    .filter(({ name }) => isRecorded(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function withPlaceholders(text) {
  const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return text
    .replaceAll(base, '@ROOT@')
    .replaceAll(main, '@MAIN@')
    .replaceAll(process.execPath, '@NODE@')
    .replaceAll(process.env.PATH, '@PATH@')
    .replaceAll(boot, '@BOOT@')
}

function oneshot(...args) {
  return call(process.execPath, [main, ...args])
}

function git(...args) {
  call('git', args)
}

function call(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: project, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}
