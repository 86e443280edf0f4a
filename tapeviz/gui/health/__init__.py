"""The health map: layers by iterations, coloured by gradient magnitude."""
