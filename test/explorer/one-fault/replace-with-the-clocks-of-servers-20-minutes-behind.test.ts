import { withOneFault } from '../with-one-fault.ts'

withOneFault('replace, with the clocks of servers 20 minutes behind')
