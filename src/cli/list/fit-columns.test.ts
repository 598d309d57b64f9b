import { expect, test } from 'vitest'
import { type Column, renderTable } from '../terminal/table.ts'
import { BELOW, fitColumns } from './fit-columns.ts'

type Row = Readonly<Record<string, string>>

const HEADERS = ['NAME', 'STATE', 'AGENT', 'CREATED', 'RESTARTS', 'TITLE']
const columns: Column<Row>[] = HEADERS.map(header => ({ header, text: row => row[header] ?? '' }))
const row = (NAME: string, TITLE: string): Row => ({
  NAME,
  STATE: '● running',
  AGENT: 'command',
  CREATED: '1 min ago',
  RESTARTS: '0',
  TITLE,
})
const long = 'command-fix-the-login-of-users-that-have-no-password-in-the-database'
const rows = [row(`${long}1`, 'sleep 3000'), row(`${BELOW}${long}2`, 'fix the login of users that have no password')]
const shown = (width: number): string[] => renderTable(fitColumns(columns, rows, width), rows, { headers: true, width })

test('one very long name leaves all columns of the list on a terminal of 80 columns', () => {
  expect(shown(80)).toEqual([
    'NAME                 STATE      AGENT    CREATED    RESTARTS  TITLE',
    'command-fi…abase1    ● running  command  1 min ago  0         sleep 3000',
    '└ command-fi…abase2  ● running  command  1 min ago  0         fix the login of …',
  ])
})

test('a wide terminal shows long names and titles in full', () => {
  expect(shown(200)[1]).toContain(`${long}1`)
  expect(shown(200)[2]).toMatch(/ fix the login of users that have no password$/)
})

test('a terminal of 40 columns shows name, state and title, and no empty column', () => {
  expect(shown(40)[0]).toMatch(/^NAME +STATE +TITLE$/)
  expect(shown(40)[1]).toMatch(/1 +● running {2}sleep 3000$/)
  for (const width of [20, 40, 60, 80, 120, 200])
    for (const line of shown(width)) expect(line.length, line).toBeLessThanOrEqual(width)
})
