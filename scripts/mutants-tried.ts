import { spawn } from 'node:child_process'

/** Runs one test file in a copy of the tree and ends it at the first failure. What hangs has failed. */
export function runTest(
  copy: string,
  test: string,
  mostMs: number,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly passed: boolean; readonly tookMs: number }> {
  const begun = performance.now()
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--test-reporter=tap', test], {
      cwd: copy,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
      env: { ...process.env, CROFT_SEEDS: '2', ...env },
    })
    const end = (passed: boolean) => {
      clearTimeout(timer)
      if (!passed) killGroup(child.pid)
      resolve({ passed, tookMs: performance.now() - begun })
    }
    const timer = setTimeout(() => end(false), mostMs)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (/^\s*not ok /m.test(text)) end(false)
    })
    child.on('error', () => end(false))
    child.on('exit', (code) => end(code === 0))
  })
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It ended before.
  }
}
