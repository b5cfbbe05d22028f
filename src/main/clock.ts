import { type Clock, fastClock, systemClock } from '../lib/clock.ts'

/**
 * The clock of the program. With a simulator that is faster than real time, use its clock, or recent events would lie
 * in the future; `croft sim` prints the setting.
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
