import type { Paint } from '../terminal/colors.ts'
import { type CommandDefinition, type CommandHeader, GROUPS } from '../args/command-definition.ts'
import { GLOBAL_OPTIONS } from '../args/options.ts'
import { exampleLine, describeOption, twoColumns, section, usageLine } from './layout.ts'
import { OVERVIEW_EXAMPLES } from './texts.ts'
import { TOPICS } from './topics.ts'

/** Renders the overview of all commands. It loads none of them. */
export function renderOverview(commands: readonly CommandHeader[], paint: Paint): string {
  const groups = GROUPS.map(group => {
    const members = commands.filter(command => command.group === group)
    return section(group, twoColumns(members.map(describeCommand), paint), paint)
  })
  return [
    'oneshot runs coding agents and commands so that the work outlives the terminal.',
    section('Examples', OVERVIEW_EXAMPLES.map(exampleLine), paint),
    ...groups,
    section(
      'Topics',
      twoColumns(
        TOPICS.map(({ name, summary }) => ({ name: `help ${name}`, summary })),
        paint,
      ),
      paint,
    ),
    section('Options everywhere', twoColumns(GLOBAL_OPTIONS.map(describeOption), paint), paint),
    'oneshot help COMMAND shows more. Without a NAME, commands use this directory’s most recent session.',
  ].join('\n\n')
}

function describeCommand({ name, aliases = [], summary }: CommandHeader): { name: string; summary: string } {
  return { name: [name, ...aliases].join(', '), summary }
}

/** Renders help on a command. */
export function renderHelp(command: CommandDefinition, paint: Paint): string {
  const aliasNote = command.aliases === undefined ? '' : ` (also: ${command.aliases.join(', ')})`
  const examples = command.examples.flatMap(example => [paint.dim(`# ${example.description}`), exampleLine(example)])
  const parts = command.arguments.map(({ valueType, summary }) => ({ name: valueType.placeholder, summary }))
  if (command.rest !== undefined) parts.push({ name: `-- ${command.rest.placeholder}`, summary: command.rest.summary })
  return [
    `${paint.bold(`oneshot ${command.name}`)}: ${command.summary}${aliasNote}`,
    section('Examples', examples, paint),
    section('Usage', [usageLine(command)], paint),
    ...(parts.length === 0 ? [] : [section('Arguments', twoColumns(parts, paint), paint)]),
    ...(command.options.length === 0
      ? []
      : [section('Options', twoColumns(command.options.map(describeOption), paint), paint)]),
    section('Options everywhere', twoColumns(GLOBAL_OPTIONS.map(describeOption), paint), paint),
    ...(command.about === undefined ? [] : [command.about]),
  ].join('\n\n')
}
