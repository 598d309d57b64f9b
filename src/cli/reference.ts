import { KEY_NAMES, KEYS } from '../api/config/keys.ts'
import { CONFIG_FILES, ENVIRONMENT, EXIT_CODE_NOTE, EXIT_CODES, type Fact } from './help/facts.ts'
import { exampleLine, optionFact, usageOf } from './help/layout.ts'
import { defaultOf } from './help/topics.ts'
import { type Command, GROUPS } from './table/command.ts'
import { COMMANDS } from './table/commands.ts'
import { GLOBAL_OPTIONS } from './table/options.ts'

/** The whole command line as Markdown, for docs/reference.md. */
export function reference(): string {
  const groups = GROUPS.flatMap(group => [
    `## ${group}`,
    ...COMMANDS.filter(command => command.group === group).flatMap(describe),
  ])
  const parts = [
    '# Reference',
    'Generated from the command table by `npm run docs`. Do not edit.',
    ...groups,
    '## Options everywhere',
    table(['Option', 'Meaning'], GLOBAL_OPTIONS.map(optionFact)),
    '## Exit codes',
    table(['Code', 'Meaning'], EXIT_CODES),
    EXIT_CODE_NOTE.replaceAll('\n', ' '),
    '## Environment variables',
    table(['Variable', 'Meaning'], ENVIRONMENT),
    '## Config keys',
    CONFIG_FILES.replaceAll('\n', ' '),
    table(['Key', 'Meaning'], KEY_NAMES.map(keyFact)),
  ]
  return `${parts.join('\n\n')}\n`
}

function describe(command: Command): string[] {
  const aliases = command.aliases?.map(alias => ` · \`${alias}\``).join('') ?? ''
  const parts = command.arguments.map(({ kind, summary }) => ({ name: kind.placeholder, summary }))
  if (command.rest !== undefined) parts.push({ name: `-- ${command.rest.placeholder}`, summary: command.rest.summary })
  const examples = command.examples.flatMap(example => [`# ${example.says}`, exampleLine(example)])
  return [
    `### \`${command.name}\`${aliases}`,
    `${capital(command.summary)}.`,
    fence([usageOf(command)]),
    ...(command.about === undefined ? [] : [command.about]),
    ...(parts.length === 0 ? [] : [table(['Argument', 'Meaning'], parts)]),
    ...(command.options.length === 0 ? [] : [table(['Option', 'Meaning'], command.options.map(optionFact))]),
    fence(examples),
  ]
}

function keyFact(key: (typeof KEY_NAMES)[number]): Fact {
  const { summary, allowed, variable } = KEYS[key]
  return { name: key, summary: `${summary}. It must be ${allowed}. Default ${defaultOf(key)}; variable ${variable}` }
}

function fence(lines: readonly string[]): string {
  return ['```sh', ...lines, '```'].join('\n')
}

function table(headers: readonly string[], facts: readonly Fact[]): string {
  const rows = facts.map(({ name, summary }) => `| \`${escape(name.trim())}\` | ${escape(summary)} |`)
  return [`| ${headers.join(' | ')} |`, '|---|---|', ...rows].join('\n')
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|')
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
