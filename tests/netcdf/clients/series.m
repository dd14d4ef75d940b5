% SPDX-License-Identifier: MIT
% A file by Octave's package netcdf, by its high and its low interface: series.m FILE
pkg load netcdf
import_netcdf
path = argv(){end};
ncid = netcdf.create(path, "NETCDF4");
lon = netcdf.defDim(ncid, "lon", 4);
lat = netcdf.defDim(ncid, "lat", 3);
time = netcdf.defDim(ncid, "time", netcdf.getConstant("NC_UNLIMITED"));
sst = netcdf.defVar(ncid, "sst", "NC_FLOAT", [lon, lat, time]);
netcdf.defVarDeflate(ncid, sst, true, true, 5);
netcdf.defVarChunking(ncid, sst, "CHUNKED", [4, 3, 1]);
netcdf.defVarFill(ncid, sst, false, single(-1));
netcdf.putAtt(ncid, sst, "units", "K");
netcdf.putAtt(ncid, netcdf.getConstant("NC_GLOBAL"), "title", "made by Octave");
netcdf.endDef(ncid);
for k = 0:2
  netcdf.putVar(ncid, sst, [0, 0, k], [4, 3, 1], single(reshape(1:12, 4, 3) + 100 * k));
  netcdf.sync(ncid);
end
netcdf.close(ncid);
nccreate(path, "n", "Dimensions", {"lat"}, "Datatype", "int16");
ncwrite(path, "n", int16([7, 8, 9]));
ncwriteatt(path, "n", "long_name", "number");
disp(ncread(path, "sst"))
disp(ncread(path, "sst", [1, 2, 1], [2, 1, Inf], [2, 1, 2]))
disp(ncread(path, "n"))
disp(ncreadatt(path, "/", "title"))
info = ncinfo(path);
disp({info.Variables.Name})
disp(info.Variables(1).ChunkSize)
disp(info.Variables(1).DeflateLevel)
disp({info.Dimensions.Name})
ncdisp(path)
