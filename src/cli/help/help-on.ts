import type { Paint } from '../screen/paint.ts'
import { type Command, GROUPS } from '../table/command.ts'
import { COMMANDS } from '../table/commands.ts'
import { GLOBAL_OPTIONS } from '../table/options.ts'
import { RUN } from '../table/work.ts'
import { exampleLine, optionFact, pairs, section, usageOf } from './layout.ts'
import { TOPICS } from './topics.ts'

/** Help on a command, or without one the overview. */
export function helpOn(command: Command | null, paint: Paint): string {
  return (command === null ? overview(paint) : commandHelp(command, paint)).join('\n\n')
}

function overview(paint: Paint): string[] {
  const groups = GROUPS.map(group => {
    const members = COMMANDS.filter(command => command.group === group)
    return section(group, pairs(members.map(commandFact), paint), paint)
  })
  return [
    'oneshot runs coding agents and commands so that the work outlives the terminal.',
    section('Examples', RUN.examples.slice(0, 2).map(exampleLine), paint),
    ...groups,
    section(
      'Topics',
      pairs(
        TOPICS.map(({ name, summary }) => ({ name: `help ${name}`, summary })),
        paint,
      ),
      paint,
    ),
    section('Options everywhere', pairs(GLOBAL_OPTIONS.map(optionFact), paint), paint),
    'oneshot help COMMAND shows more. Without a NAME, commands use this directory’s most recent session.',
  ]
}

function commandFact({ name, aliases = [], summary }: Command): { name: string; summary: string } {
  return { name: [name, ...aliases].join(', '), summary }
}

function commandHelp(command: Command, paint: Paint): string[] {
  const also = command.aliases === undefined ? '' : ` (also: ${command.aliases.join(', ')})`
  const examples = command.examples.flatMap(example => [paint.dim(`# ${example.says}`), exampleLine(example)])
  const parts = command.arguments.map(({ kind, summary }) => ({ name: kind.placeholder, summary }))
  if (command.rest !== undefined) parts.push({ name: `-- ${command.rest.placeholder}`, summary: command.rest.summary })
  return [
    `${paint.bold(`oneshot ${command.name}`)}: ${command.summary}${also}`,
    section('Examples', examples, paint),
    section('Usage', [usageOf(command)], paint),
    ...(parts.length === 0 ? [] : [section('Arguments', pairs(parts, paint), paint)]),
    ...(command.options.length === 0 ? [] : [section('Options', pairs(command.options.map(optionFact), paint), paint)]),
    section('Options everywhere', pairs(GLOBAL_OPTIONS.map(optionFact), paint), paint),
    ...(command.about === undefined ? [] : [command.about]),
  ]
}
