import { type Clock, fastClock, systemClock } from '../lib/clock.ts'

/**
 * The clock that everything runs on. Of a simulator that goes faster than real time the same clock must be used, or
 * what happened there a minute ago seems to lie in the future; `croft sim` says which it is.
 */
export const programClock: Clock = chosen(process.env.CROFT_SIM_CLOCK)

function chosen(text: string | undefined): Clock {
  if (text === undefined || text === '') return systemClock
  const clock = fastClock(text)
  if (clock !== undefined) return clock
  process.stderr.write(
    'Warning: CROFT_SIM_CLOCK is not used: it is not what croft sim says under clock, like 30@1794736532000.\n',
  )
  return systemClock
}
