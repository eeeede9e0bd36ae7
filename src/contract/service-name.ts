/** What messages call the service: "The pet store did not respond in time." Replace it with the contract. */
export const serviceName = 'pet store';
