import { KEY_NAMES, KEYS, type KeyName, showValue } from '../../api/config/keys.ts'
import type { Paint } from '../terminal/colors.ts'
import { CONFIG_FILES, ENVIRONMENT, EXIT_CODE_NOTE, EXIT_CODES } from './texts.ts'
import { twoColumns, section } from './layout.ts'

export interface Topic {
  readonly name: string
  readonly summary: string
  render(paint: Paint): string
}

export const TOPICS: readonly Topic[] = [
  {
    name: 'exit-codes',
    summary: 'what each exit code means',
    render: paint => [section('Exit codes', twoColumns(EXIT_CODES, paint), paint), EXIT_CODE_NOTE].join('\n\n'),
  },
  {
    name: 'environment',
    summary: 'the variables that are read',
    render: paint => section('Environment variables', twoColumns(ENVIRONMENT, paint), paint),
  },
  {
    name: 'config',
    summary: 'the config keys and files',
    render: paint => [section('Config keys', KEY_NAMES.flatMap(describeKey), paint), CONFIG_FILES].join('\n\n'),
  },
]

function describeKey(key: KeyName): string[] {
  return [
    `${key} = ${defaultText(key)}`,
    `    ${KEYS[key].summary}`,
    `    ${KEYS[key].allowed} (${KEYS[key].variable})`,
  ]
}

export function defaultText(key: KeyName): string {
  const { fallback } = KEYS[key]
  const text = showValue(key, fallback)
  return typeof fallback === 'boolean' ? text : JSON.stringify(text)
}
