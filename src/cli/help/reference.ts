import { KEY_NAMES, KEYS } from '../../api/config/keys.ts'
import { CONFIG_FILES, ENVIRONMENT, EXIT_CODE_NOTE, EXIT_CODES, type HelpEntry } from './texts.ts'
import { exampleLine, describeOption, usageLine } from './layout.ts'
import { defaultText } from './topics.ts'
import { type CommandDefinition, GROUPS } from '../args/command-definition.ts'
import { GLOBAL_OPTIONS } from '../args/options.ts'

/** Renders the whole command line as Markdown, for docs/reference.md. */
export function reference(commands: readonly CommandDefinition[]): string {
  const groups = GROUPS.flatMap(group => [
    `## ${group}`,
    ...commands.filter(command => command.group === group).flatMap(describeCommand),
  ])
  const parts = [
    '# Reference',
    'Generated from the commands by `npm run docs`. Do not edit.',
    ...groups,
    '## Options everywhere',
    markdownTable(['Option', 'Meaning'], GLOBAL_OPTIONS.map(describeOption)),
    '## Exit codes',
    markdownTable(['Code', 'Meaning'], EXIT_CODES),
    EXIT_CODE_NOTE.replaceAll('\n', ' '),
    '## Environment variables',
    markdownTable(['Variable', 'Meaning'], ENVIRONMENT),
    '## Config keys',
    CONFIG_FILES.replaceAll('\n', ' '),
    markdownTable(['Key', 'Meaning'], KEY_NAMES.map(describeKey)),
  ]
  return `${parts.join('\n\n')}\n`
}

function describeCommand(command: CommandDefinition): string[] {
  const aliases = command.aliases?.map(alias => ` · \`${alias}\``).join('') ?? ''
  const parts = command.arguments.map(({ valueType, summary }) => ({ name: valueType.placeholder, summary }))
  if (command.rest !== undefined) parts.push({ name: `-- ${command.rest.placeholder}`, summary: command.rest.summary })
  const examples = command.examples.flatMap(example => [`# ${example.description}`, exampleLine(example)])
  return [
    `### \`${command.name}\`${aliases}`,
    `${capitalize(command.summary)}.`,
    fence([usageLine(command)]),
    ...(command.about === undefined ? [] : [command.about]),
    ...(parts.length === 0 ? [] : [markdownTable(['Argument', 'Meaning'], parts)]),
    ...(command.options.length === 0
      ? []
      : [markdownTable(['Option', 'Meaning'], command.options.map(describeOption))]),
    fence(examples),
  ]
}

function describeKey(key: (typeof KEY_NAMES)[number]): HelpEntry {
  const { summary, allowed, variable } = KEYS[key]
  return { name: key, summary: `${summary}. It must be ${allowed}. Default ${defaultText(key)}; variable ${variable}` }
}

function fence(lines: readonly string[]): string {
  return ['```sh', ...lines, '```'].join('\n')
}

function markdownTable(headers: readonly string[], facts: readonly HelpEntry[]): string {
  const rows = facts.map(({ name, summary }) => `| \`${escape(name.trim())}\` | ${escape(summary)} |`)
  return [`| ${headers.join(' | ')} |`, '|---|---|', ...rows].join('\n')
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|')
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
