#!/usr/bin/env node
// A fake of beads' `bd`, according to the known behaviour of its releases. BD_STANDIN holds words for the release (old:
// 0.49.6, noop: 0.56.1, new: 1.0.5, latest: 1.3.0) and for the behaviour; `.beads/manners` may add words at run time.
// Issues are in .beads/stand-in.json, calls in .beads/calls.
const fs = require('node:fs')
const path = require('node:path')

const root = findRoot(process.cwd())
const words = `${process.env.BD_STANDIN ?? ''} ${read('manners', '')}`.split(/\s+/).filter(Boolean)
const is = word => words.includes(word)
const release = ['old', 'noop', 'latest'].find(is) ?? 'new'
const isEnveloped = process.env.BD_JSON_ENVELOPE === '1' && ['new', 'latest'].includes(release) && !is('bare')

const args = process.argv.slice(2)
const flags = args.filter(word => word.startsWith('-'))
const isJson = flags.includes('--json')
const [command = 'help', ...rest] = positional(args)

function main() {
  if (is('hanging')) return waitFor('go', run)
  if (is('flooding')) return flood()
  if (is('garbage')) return say('¯\\_(ツ)_/¯ <html>{"id":')
  if (is('failing')) return fail('database is locked')
  if (is('killed')) return process.kill(process.pid, 'SIGKILL')
  run()
}

function run() {
  const handler = COMMANDS[command]
  if (handler === undefined) {
    process.stderr.write(`Error: unknown command "${command}" for "bd"\n`)
    process.exitCode = 1
  } else handler()
}

const COMMANDS = {
  version: () => say(`bd version ${{ old: '0.49.6', noop: '0.56.1', new: '1.0.5', latest: '1.3.0' }[release]} (dev)`),
  help: () => say('Usage:\n  bd [command]'),
  create: () => {
    const id = `bd-${(issues().length + 1).toString(36).padStart(4, 'a')}`
    change(all => all.push({ id, title: rest[0], status: 'open', priority: 2, issue_type: 'task' }))
    isJson ? answer(issueNamed(id)) : say(flags.includes('--silent') ? id : `Created issue: ${id}`)
  },
  ready: () => {
    const states = release === 'old' ? ['open', 'in_progress'] : ['open']
    const ready = issues().filter(({ status, blocked }) => states.includes(status) && !blocked)
    list(ready, release === 'old' ? 10 : 100)
  },
  list: () => {
    const states = (valueOf('--status') ?? '').split(',')
    const found = issues().filter(({ status }) => states.includes(status))
    list(found, 50)
  },
  show: () => {
    const found = issueNamed(rest[0])
    if (found === undefined) return fail(`no issue found matching "${rest[0]}"`)
    answer([found])
  },
  update: () => change(() => Object.assign(issueNamed(rest[0]), { status: valueOf('--status') ?? 'in_progress' })),
  close: () => (is('slow-to-close') ? waitFor('go', close) : close()),
  ...(release !== 'new' && { sync }),
  ...(['new', 'latest'].includes(release) && { dolt, reopen }),
}

/** Closes issues; a closed issue stays as it is. Fails only if it can close none of them. */
function close() {
  const found = rest.filter(id => issueNamed(id) !== undefined && !is('refusing'))
  if (found.length === 0) return fail(is('refusing') ? `${rest[0]} is blocked` : 'no issue found')
  change(() => {
    for (const issue of found.map(issueNamed).filter(({ status }) => status !== 'closed')) {
      Object.assign(issue, { status: 'closed', close_reason: valueOf('--reason') })
      fs.appendFileSync(file('closed'), `${issue.id} ${issue.close_reason}\n`)
    }
  })
  const reply = () => (isJson ? answer(found.map(issueNamed)) : say('Closed'))
  if (is('slow-to-answer')) waitFor('go', reply)
  else reply()
}

function reopen() {
  if (flags.includes('--help')) return say('Usage:\n  bd reopen [id...] [flags]\n\nFlags:\n  -r, --reason string')
  if (issueNamed(rest[0]) === undefined) return fail('no issue found')
  change(() => Object.assign(issueNamed(rest[0]), { status: 'open', reopen_reason: valueOf('--reason') }))
}

/** Up to 0.49 the real sync also commits, pulls and pushes unless --flush-only limits it to writing the issues. */
function sync() {
  if (flags.includes('--help'))
    return say(
      `Usage:\n  bd sync [flags]\n\nFlags:\n${release === 'old' ? '      --flush-only   Only export\n' : ''}  -h, --help`,
    )
  if (release !== 'old') return say('Note: bd sync is deprecated')
  if (!flags.includes('--flush-only')) fs.appendFileSync(file('git-touched'), 'commit pull push\n')
  const lines = issues().map(issue => `${JSON.stringify(issue)}\n`)
  write('issues.jsonl', lines.join(''))
}

function dolt() {
  if (flags.includes('--help')) return say('Usage:\n  bd dolt push [flags]')
  if (rest[0] !== 'push') return fail(`unknown command "${rest[0]}" for "bd dolt"`)
  if (is('push-failing')) return fail('could not reach the remote')
  if (fs.existsSync(file('remote'))) write('remote', JSON.stringify(issues()))
  else say('No remote is configured for this database.')
}

function list(found, most) {
  if (!isJson) return say(found.map(({ id, title }) => `${id} ${title}`).join('\n'))
  const limit = Number(valueOf('--limit') ?? most)
  if (found.length > limit) process.stderr.write(`Showing ${limit} of ${found.length} issues.\n`)
  answer(found.slice(0, limit))
}

function answer(data) {
  say(JSON.stringify(isEnveloped ? { schema_version: 1, data } : data, null, 2))
  if (!isEnveloped) process.stderr.write('Note: set BD_JSON_ENVELOPE=1\n')
}

function fail(message) {
  const data = isEnveloped ? { schema_version: 1, data: { error: message } } : { error: message, schema_version: 1 }
  const where = is('errors-on-stderr') || !isJson ? process.stderr : process.stdout
  where.write(isJson ? `${JSON.stringify(data)}\n` : `Error: ${message}\n`)
  process.exitCode = 1
}

function say(text) {
  process.stdout.write(`${text}\n`)
}

function flood() {
  for (;;) fs.writeSync(1, '[]'.repeat(50_000))
}

/** Waits for a file that a test creates, and then continues. */
function waitFor(name, goOn) {
  fs.appendFileSync(file('waiting'), `${process.pid}\n`)
  const timer = setInterval(() => {
    if (!fs.existsSync(file(name))) return
    clearInterval(timer)
    goOn()
  }, 10)
}

function positional(given) {
  const WITH_VALUE = ['--reason', '--status', '--limit', '-p', '-t', '-n']
  return given.filter((word, at) => !word.startsWith('-') && !WITH_VALUE.includes(given[at - 1]))
}

function valueOf(flag) {
  const at = args.indexOf(flag)
  return at < 0 ? undefined : args[at + 1]
}

function issues() {
  return JSON.parse(read('stand-in.json', '[]'))
}

let changing
function issueNamed(id) {
  return (changing ?? issues()).find(issue => issue.id === id)
}

/** Runs one change at a time across processes. */
function change(edit) {
  for (;;) {
    try {
      fs.mkdirSync(file('lock'))
      break
    } catch {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
  changing = issues()
  edit(changing)
  write('stand-in.json', JSON.stringify(changing))
  changing = undefined
  fs.rmdirSync(file('lock'))
}

function findRoot(folder) {
  if (fs.existsSync(path.join(folder, '.beads'))) return folder
  return folder === path.dirname(folder) ? undefined : findRoot(path.dirname(folder))
}

function file(name) {
  return path.join(root, '.beads', name)
}

function read(name, otherwise) {
  try {
    return fs.readFileSync(file(name), 'utf8')
  } catch {
    return otherwise
  }
}

function write(name, text) {
  fs.writeFileSync(file(`${name}.tmp`), text)
  fs.renameSync(file(`${name}.tmp`), file(name))
}

if (root !== undefined) fs.appendFileSync(file('calls'), `${JSON.stringify(args)}\n`)
main()
