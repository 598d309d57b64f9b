import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isInDockerContext } from './warnings-before-run.ts'

function projectWith(files: Record<string, string>): string {
  const project = fs.mkdtempSync(path.join(os.tmpdir(), 'os-docker-'))
  onTestFinished(() => fs.rmSync(project, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(project, name), text)
  return project
}

test.each([
  ['no image is built here', {}, false],
  ['no .dockerignore', { Dockerfile: '' }, true],
  ['a .dockerignore without it', { 'compose.yaml': '', '.dockerignore': 'node_modules\n.agentx\n' }, true],
  ['a .dockerignore with it', { Dockerfile: '', '.dockerignore': 'node_modules\r\n.agent\r\n' }, false],
  ['its folder form', { Dockerfile: '', '.dockerignore': '**/.agent/' }, false],
  ['all hidden files', { Dockerfile: '', '.dockerignore': '.*' }, false],
  ['an allow list', { Dockerfile: '', '.dockerignore': '*\n!src\n' }, false],
  ['an ignore file of the Dockerfile', { Dockerfile: '', 'Dockerfile.dockerignore': '.agent' }, false],
])('docker would copy .agent, with %s: %j', (_, files, expected) => {
  expect(isInDockerContext(projectWith(files))).toBe(expected)
})
