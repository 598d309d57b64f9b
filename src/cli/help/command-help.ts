import type { Paint } from '../terminal/colors.ts'
import { type Command, GROUPS } from '../args/command.ts'
import { COMMANDS } from '../definitions/commands.ts'
import { GLOBAL_OPTIONS } from '../args/options.ts'
import { RUN } from '../definitions/sessions.ts'
import { exampleLine, describeOption, twoColumns, section, usageLine } from './layout.ts'
import { TOPICS } from './topics.ts'

/** Renders help on a command, or the overview without one. */
export function renderHelp(command: Command | null, paint: Paint): string {
  return (command === null ? overview(paint) : commandHelp(command, paint)).join('\n\n')
}

function overview(paint: Paint): string[] {
  const groups = GROUPS.map(group => {
    const members = COMMANDS.filter(command => command.group === group)
    return section(group, twoColumns(members.map(describeCommand), paint), paint)
  })
  return [
    'oneshot runs coding agents and commands so that the work outlives the terminal.',
    section('Examples', RUN.examples.slice(0, 2).map(exampleLine), paint),
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
  ]
}

function describeCommand({ name, aliases = [], summary }: Command): { name: string; summary: string } {
  return { name: [name, ...aliases].join(', '), summary }
}

function commandHelp(command: Command, paint: Paint): string[] {
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
  ]
}
