/** As whom a Power writes to objects that others keep: replicas that it takes and gives back, cordons, taints. */
export const POWER_MANAGER = 'croft-power'
