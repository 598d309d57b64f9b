import { expect, test } from 'vitest'
import { commandNamed, parseLine } from '../../../testkit/cli/commands.ts'
import { KEYS, type KeyName } from '../../api/config/keys.ts'
import { type Config, loadConfig } from '../../api/config/load-config.ts'
import { isFlag, type Option } from '../args/command-definition.ts'
import { OPTIONS } from '../args/options.ts'
import { CONFIG_FIELDS, type FieldSource, RUN_OPTION_LIST } from '../args/run-options.ts'
import { readRequestFields } from './request-fields.ts'

const SAMPLES = ['edits', 'branch', 'true', '7m', '7G', '7', 'sample']
const OPTION_FIELDS = RUN_OPTION_LIST.flatMap(option =>
  option.field === undefined ? [] : [{ ...option, option, field: option.field }],
)
const KEY_FIELDS = [...OPTION_FIELDS, ...CONFIG_FIELDS].flatMap(source =>
  source.key === undefined ? [] : [{ ...source, key: source.key }],
)

function configWith(...overrides: string[]): Promise<Config> {
  return loadConfig({ env: { XDG_CONFIG_HOME: '/nowhere' }, cwd: '/', overrides })
}

async function readLine(argv: string[], ...overrides: string[]): Promise<unknown> {
  return readRequestFields(parseLine(['run', ...argv, 'x']), await configWith(...overrides))
}

function valueAt(request: unknown, field: FieldSource['field']): unknown {
  return field.split('.').reduce((group, name) => (group as Record<string, unknown> | undefined)?.[name], request)
}

/** Returns the first sample that the option or the key accepts with a value other than its default. */
function sampleFor(read: (text: string) => unknown, fallback?: unknown): { text: string; value: unknown } {
  for (const text of SAMPLES) {
    const value = read(text)
    if (value !== undefined && value !== fallback) return { text, value }
  }
  throw new Error('no sample fits')
}

function keySample(key: KeyName): { text: string; value: unknown } {
  if (key === 'project-files') return { text: 'false', value: false }
  return sampleFor(KEYS[key].read, KEYS[key].fallback)
}

test.each(OPTION_FIELDS)('--$name fills the field $field of the request', async ({ option, field }) => {
  const { text, value } = isFlag(option) ? { text: '', value: true } : sampleFor(option.valueType.read)
  const words = isFlag(option) ? [`--${option.name}`] : [`--${option.name}`, text]
  expect(valueAt(await readLine(words), field)).toEqual(value)
})

test.each(KEY_FIELDS)('the config key $key fills the field $field unless the line has the option', async source => {
  const { text, value } = keySample(source.key)
  expect(valueAt(await readLine([], `${source.key}=${text}`), source.field)).toEqual(value)
})

test.each(KEY_FIELDS)(
  'the request omits $field only if the default of $key says so',
  async ({ key, field, absent }) => {
    const { fallback } = KEYS[key]
    expect(valueAt(await readLine([]), field)).toEqual(fallback === absent ? undefined : fallback)
  },
)

test('the option of the line precedes its config key, and null on the line is a value', async () => {
  expect(await readLine(['--max-time', 'none', '--silence', 'none', '--push', 'origin'], 'max-time=1h')).toMatchObject({
    supervision: { maxTime: null, patience: { silence: null }, saving: { push: 'origin' } },
  })
  expect(await readLine(['--memory', 'none'], 'memory=1G')).not.toHaveProperty('supervision.memory')
})

test('no two options or keys fill the same field', () => {
  const fields = [...OPTION_FIELDS, ...CONFIG_FIELDS].map(({ field }) => field)
  expect(new Set(fields).size).toBe(fields.length)
})

test('run accepts every option of the table, and loops accept those with a place in a loop', () => {
  const accepts = (command: string, option: Option<unknown>): boolean => commandNamed(command).options.includes(option)
  for (const option of RUN_OPTION_LIST) {
    expect(accepts('run', option), option.name).toBe(true)
    // A loop has a check of its own, which has the same name.
    const isInLoop = option.inLoop !== undefined || option === OPTIONS.verify
    for (const loop of ['ralph', 'build']) expect(accepts(loop, option), `${loop} --${option.name}`).toBe(isInLoop)
  }
})
